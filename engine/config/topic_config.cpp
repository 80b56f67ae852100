#include "config/topic_config.h"
