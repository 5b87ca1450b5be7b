/* The parts of the program that writes seeds. */
#ifndef FUZZ_SEEDS_H
#define FUZZ_SEEDS_H

#include "tests/captures.h"

/* Writes FOLDER/TARGET/NAME. */
void seeds_put(const char *folder, const char *target, const char *name, const builder *b);

/* Writes command lines: each option of each command once, on captures of every form. */
void seeds_put_commands(const char *folder);

/* Writes files with symbols. */
void seeds_put_symbols(const char *folder);

#endif
