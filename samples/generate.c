/* Makes a capture from nothing: events with any attr, records of any kind, in any form.
 *
 *     generate OUT [file | pipe | directory] [LEVEL]
 *
 * It has two events, and a program that two threads of a process run through, described as the
 * kernel would do it.  A profiler can write its captures in the same way: from structs, which the
 * library encodes.  With LEVEL (1 to 22) records are compressed. */
#include <perfile/perfile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PID = 4000, MAIN = 4000, HELPER = 4001, CODE = 0x400000, N_SAMPLES = 1000 };

static perfile_bytes text(const char *t)
{
    return (perfile_bytes){(const uint8_t *)t, strlen(t)};
}

/* Every member of an attr can be set; the others are 0. */
static perfile_status add_events(perfile_writer *w, uint32_t index[2], perfile_error *err)
{
    static const uint64_t ids[2][2] = {{71, 72}, {73, 74}}; /* one for each CPU */
    const uint64_t common = PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID |
                            PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_CPU | PERFILE_SAMPLE_PERIOD;
    const perfile_attr attrs[2] = {
        {.type = PERFILE_TYPE_SOFTWARE, /* cpu-clock, by frequency, with callchains */
         .config = 0,
         .is_freq = true,
         .sample_freq = 1000,
         .sample_type = common | PERFILE_SAMPLE_CALLCHAIN,
         .flags = UINT64_C(1) << PERFILE_ATTR_BIT_FREQ | UINT64_C(1)
                                                             << PERFILE_ATTR_BIT_SAMPLE_ID_ALL},
        {.type = PERFILE_TYPE_SOFTWARE, /* page-faults, every one, with its address */
         .config = 2,
         .is_period = true,
         .sample_period = 1,
         .sample_type = common | PERFILE_SAMPLE_ADDR,
         .flags = UINT64_C(1) << PERFILE_ATTR_BIT_SAMPLE_ID_ALL},
    };
    static const char *const names[2] = {"cpu-clock", "page-faults"};
    perfile_status st = PERFILE_OK;
    for (int i = 0; i < 2 && st == PERFILE_OK; i++) {
        perfile_new_event e = {.size = sizeof e,
                               .attr = &attrs[i],
                               .attr_struct = sizeof attrs[i],
                               .ids = ids[i],
                               .n_ids = 2,
                               .name = names[i]};
        st = perfile_writer_add_event(w, &e, &index[i], err);
    }
    return st;
}

static perfile_status describe_host(perfile_writer *w, perfile_error *err)
{
    perfile_nrcpus cpus = {.nr_cpus_avail = 2, .nr_cpus_online = 2};
    perfile_sample_time span = {.first_sample_time = 1000000,
                                .last_sample_time = 1000000 + 1000 * (N_SAMPLES - 1)};
    perfile_status st = perfile_writer_text(w, PERFILE_FEATURE_HOSTNAME, "nowhere", err);
    if (st == PERFILE_OK)
        st = perfile_writer_text(w, PERFILE_FEATURE_ARCH, "x86_64", err);
    if (st == PERFILE_OK)
        st = perfile_writer_set_nrcpus(w, &cpus, sizeof cpus, err);
    return st == PERFILE_OK ? perfile_writer_set_sample_time(w, &span, sizeof span, err) : st;
}

/* Writes records for the process, its program and its second thread. */
static perfile_status tell_tasks(perfile_writer *w, uint32_t event, perfile_error *err)
{
    perfile_put_options how = {.size = sizeof how,
                               .event = event,
                               .misc = PERFILE_MISC_CPUMODE_USER,
                               .pid = PID,
                               .tid = MAIN};
    perfile_comm comm = {.pid = PID, .tid = MAIN, .comm = text("invented")};
    perfile_fork fork = {.pid = PID, .ppid = PID, .tid = HELPER, .ptid = MAIN, .time = 900001};
    perfile_mmap2 map = {.pid = PID,
                         .tid = MAIN,
                         .addr = CODE,
                         .len = 0x10000,
                         .has_inode = true,
                         .ino = 99,
                         .has_prot = true,
                         .prot = 5,
                         .flags = 2,
                         .filename = text("/usr/bin/invented")};
    how.time = 800000;
    perfile_status st = perfile_writer_put_comm(w, &comm, sizeof comm, &how, err);
    if (st == PERFILE_OK)
        st = perfile_writer_put_mmap2(w, &map, sizeof map, &how, err);
    how.time = 900000;
    how.misc = 0;
    return st == PERFILE_OK ? perfile_writer_put_fork(w, &fork, sizeof fork, &how, err) : st;
}

/* A sample has the fields in the sample_type of its event; other members are ignored. */
static perfile_status put_samples(perfile_writer *w, const uint32_t index[2], bool directory,
                                  perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < N_SAMPLES && st == PERFILE_OK; i++) {
        bool fault = i % 10 == 9;
        uint64_t ip = CODE + i % 64 * 16;
        const uint64_t chain[3] = {PERFILE_CALLCHAIN_USER, ip, CODE + 0x1000};
        perfile_put_options how = {.size = sizeof how,
                                   .event = index[fault],
                                   .misc = PERFILE_MISC_CPUMODE_USER,
                                   .part = directory ? 1 + i % 2 : 0};
        perfile_sample s = {.ip = ip,
                            .pid = PID,
                            .tid = i % 3 ? MAIN : HELPER,
                            .time = 1000000 + 1000 * (uint64_t)i,
                            .cpu = i % 2,
                            .period = fault ? 1 : 1000000};
        if (fault)
            s.addr = 0x7f0000000000 + 4096 * (uint64_t)i;
        else
            s.callchain = perfile_words_u64(chain, 3);
        st = perfile_writer_put_sample(w, &s, sizeof s, &how, err);
        if (st == PERFILE_OK && i % 100 == 99)
            st = perfile_writer_round(w, err);
    }
    return st;
}

int main(int argc, char **argv)
{
    const char *form = argc > 2 ? argv[2] : "file";
    perfile_error err = {0};
    perfile_writer *w = NULL;
    uint32_t index[2];
    bool is_file = strcmp(form, "file") == 0, is_pipe = strcmp(form, "pipe") == 0,
         is_directory = strcmp(form, "directory") == 0;
    if (argc < 2 || argc > 4 || (argv[1][0] == '-' && argv[1][1]) ||
        !(is_file || is_pipe || is_directory)) {
        fprintf(stderr, "usage: generate OUT [file | pipe | directory] [LEVEL]\n");
        return 2;
    }
    perfile_writer_options o = {.size = sizeof o,
                                .form = is_pipe ? PERFILE_FORM_PIPE : PERFILE_FORM_FILE,
                                .directory = is_directory,
                                .compress_level = argc > 3 ? atoi(argv[3]) : 0,
                                .sink_flags = PERFILE_SINK_REPLACE};
    perfile_status st = perfile_writer_open_path(argv[1], &o, &w, &err);
    if (st == PERFILE_OK)
        st = add_events(w, index, &err);
    if (st == PERFILE_OK)
        st = describe_host(w, &err);
    if (st == PERFILE_OK)
        st = tell_tasks(w, index[0], &err);
    if (st == PERFILE_OK)
        st = put_samples(w, index, o.directory, &err);
    if (st == PERFILE_OK)
        st = perfile_writer_finish(w, &err);
    if (st != PERFILE_OK)
        fprintf(stderr, "generate: %s\n", err.message);
    perfile_writer_close(w);
    return st != PERFILE_OK;
}
