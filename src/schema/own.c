/* Time, task and processor that a record has in fields of its own. */
#include "schema/rows.h"

#define PF_SECOND(...)          PF_SECOND_OF(__VA_ARGS__)
#define PF_SECOND_OF(a, b, ...) b
#define PF_OWN_TIME_time        ~, own_time(own, v->time)
#define PF_OWN_PID_pid          ~, own_pid(own, (uint32_t)v->pid)
#define PF_OWN_TID_tid          ~, own_tid(own, (uint32_t)v->tid)
#define PF_OWN_CPU_cpu          ~, own_cpu(own, (uint32_t)v->cpu)

static void own_time(pf_own *own, uint64_t time)
{
    own->has_time = true;
    own->time = time;
}

static void own_pid(pf_own *own, uint32_t pid)
{
    own->has_pid = true;
    own->pid = pid;
}

static void own_tid(pf_own *own, uint32_t tid)
{
    own->has_tid = true;
    own->tid = tid;
}

/* All ones says that the record is of no processor. */
static void own_cpu(pf_own *own, uint32_t cpu)
{
    own->has_cpu = cpu != UINT32_MAX;
    own->cpu = cpu;
}

#include "schema/own.inc"
#include "perfile/format/records.def"
#include "schema/own.inc"
#include "perfile/format/simpleperf.def"
