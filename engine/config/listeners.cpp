#include "config/broker_config.h"
