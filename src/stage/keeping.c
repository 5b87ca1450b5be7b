#include "stage/keeping.h"

#include "perfile/abi.h"

unsigned pf_keeping_class(uint32_t type)
{
    static const uint8_t classes[] = {
#define KEEP(type, class) [PERFILE_RECORD_##type] = PF_KEEP_##class + 1,
#include "perfile/format/keeping.def"
    };
    uint8_t known = type < sizeof classes ? classes[type] : 0;
    if (known)
        return known - 1U;
    return type < PERFILE_RECORD_USER ? PF_KEEP_DATA : PF_KEEP_RECORDING;
}
