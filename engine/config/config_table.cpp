#include "config/config_table.h"
