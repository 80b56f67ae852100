#include "config/properties.h"
