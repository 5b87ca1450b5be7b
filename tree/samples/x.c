#include "base/x.h"
