/* What a random program prints: the canonical transcript, and what is wrong without any comparison. */
#ifndef RANDOM_TRANSCRIPT_H
#define RANDOM_TRANSCRIPT_H

#include <CL/cl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Prints a line. Nothing may go into it that differs between two correct implementations. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints a line that begins with "WRONG": something is against the standard, or not what the model of this program
 * says. Counts it. */
void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The lines of this thread go to `file` from now on, and its wrong lines are counted from 0. At first, to stdout. */
void transcript_to(FILE *file);

/* How many lines of this thread were wrong. */
unsigned wrong_count(void);

/* A number for the content of memory: FNV-1a over 64-bit words. */
uint64_t digest(const void *data, size_t bytes);

/* Prints `status` as what `what` returned, and calls it wrong if it is not `expected`. */
void note_status(cl_int status, cl_int expected, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Ends the program with exit code 3 if the next `seconds` pass without another call of this. */
void expect_progress(unsigned seconds);

#endif
