/* The inside of perfile_byteswap(): runs of records, turned into bytes of our own. */
#ifndef PF_STAGE_BYTESWAP_H
#define PF_STAGE_BYTESWAP_H

#include "base/buffer.h"
#include "core/stream.h"
#include "perfile/byteswap.h"

typedef struct pf_byteswap {
    perfile_stream base;
    perfile_byteswap_options options;
    pf_buffer bytes;          /* of the run that is handed out */
    const perfile_record *of; /* the record below that base.run[0] was made of */

    /* simpleperf's pieces of a large record wait until it is whole: it is turned as one, and cut
     * again. */
    pf_buffer pieces;         /* perfile_record, of the stream below; header is a place in `held` */
    pf_buffer held;           /* their bytes */
    size_t pieces_out;        /* handed out already; they go before what is in: */
    const perfile_record *at; /* of the run below that was fetched, records that wait and lie one
                                 behind the other, … */
    size_t n;                 /* … 0: none; … */
    const perfile_record *behind; /* … and those of the run behind them, elsewhere in memory */
    size_t n_behind;
    bool turned; /* it is in `bytes` already */
} pf_byteswap;

/* stage/byteswap_fragments.c */
perfile_status pf_byteswap_hold(pf_byteswap *o, const perfile_record *r, perfile_error *err);
/* Cuts the record at `whole`, which is turned, into the pieces again. */
void pf_byteswap_cut(pf_byteswap *o, perfile_bytes whole);
/* Hands out the next of the pieces; false: there is none. */
bool pf_byteswap_piece(pf_byteswap *o);

/* The record `r` of the stream below, with its turned bytes at `bytes`, as one of this stream. */
perfile_record pf_byteswap_moved(const pf_byteswap *o, const perfile_record *r,
                                 const uint8_t *bytes);

#endif
