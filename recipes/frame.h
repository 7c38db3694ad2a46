/*
 * The delivery on a console that it shares with everything else that is printed there: lines of one length, each of
 * which says where it belongs and proves itself, so that they are found and put together whatever stands between,
 * before or in the middle of them.
 *
 *   benchenv RRRRRRRR-EEEE-LLLLLL-TTTTTT DATA CCCCCCCC
 *   benchenv RRRRRRRR-end EEEE BBBBBBBBBBBBBBBB SHA256 CCCCCCCC
 *
 * R: random, one delivery; E: entry of the stream, from 0; L: line of the entry, from 0; T: number of its lines;
 * DATA: BE_FRAME_BYTES bytes of the stream as base64; C: first 8 digits of the SHA-256 of what stands between
 * "benchenv " and the blank before C. The last line says how many entries and bytes there were and what their SHA-256
 * is. Numbers are hexadecimal, in lower case.
 */
#ifndef BE_FRAME_H
#define BE_FRAME_H

#define BE_FRAME_MARK "benchenv "
#define BE_FRAME_MARK_LEN 9
#define BE_FRAME_BYTES 128                                /* of a line; a tar stream's blocks are 512 */
#define BE_FRAME_TEXT 172                                 /* the same as base64 */
#define BE_FRAME_HEAD 27                                  /* RRRRRRRR-EEEE-LLLLLL-TTTTTT */
#define BE_FRAME_CHECK 8                                  /* digits */
#define BE_FRAME_BODY (BE_FRAME_HEAD + 1 + BE_FRAME_TEXT) /* what the check covers */
#define BE_FRAME_LINE (BE_FRAME_MARK_LEN + BE_FRAME_BODY + 1 + BE_FRAME_CHECK)
#define BE_FRAME_END_BODY (12 + 1 + 4 + 1 + 16 + 1 + 64)
#define BE_FRAME_ENTRIES_MAX 0xffffu
#define BE_FRAME_LINES_MAX 0xffffffu

#endif
