// A library must have a source: this one carries precompiled headers (Tidemark.cmake).
