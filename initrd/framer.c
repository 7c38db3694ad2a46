#include "initrd/framer.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>

static void add_hex(struct be_buf *out, const unsigned char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		be_buf_addf(out, "%02x", bytes[i]);
}

/* Adds @body as a line, with its check. */
static void add_line(const struct be_buf *body, struct be_buf *out)
{
	unsigned char sum[EVP_MAX_MD_SIZE] = { 0 };
	EVP_Digest(body->data, body->len, sum, NULL, EVP_sha256(), NULL);
	be_buf_adds(out, BE_FRAME_MARK);
	be_buf_add(out, body->data, body->len);
	be_buf_addc(out, ' ');
	add_hex(out, sum, BE_FRAME_CHECK / 2);
	be_buf_addc(out, '\n');
}

void be_framer_start(struct be_framer *framer)
{
	uint32_t run;
	/* Early in a boot there may be no randomness yet; two boots do not share a nanosecond either. */
	if (getrandom(&run, sizeof(run), GRND_NONBLOCK) != sizeof(run)) {
		struct timespec now;
		clock_gettime(CLOCK_REALTIME, &now);
		run = (uint32_t)now.tv_nsec ^ (uint32_t)now.tv_sec;
	}
	*framer = (struct be_framer){ .sum = EVP_MD_CTX_new() };
	snprintf(framer->run, sizeof(framer->run), "%08" PRIx32, run);
	EVP_DigestInit_ex(framer->sum, EVP_sha256(), NULL);
}

void be_framer_free(struct be_framer *framer)
{
	EVP_MD_CTX_free(framer->sum);
	be_buf_free(&framer->pending);
	*framer = (struct be_framer){ .sum = NULL };
}

void be_framer_add(struct be_framer *framer, const void *data, size_t len)
{
	be_buf_add(&framer->pending, data, len);
	framer->lines = framer->pending.len / BE_FRAME_BYTES;
}

static void add_data(struct be_framer *framer, struct be_buf *body, struct be_buf *out)
{
	const unsigned char *data = (const unsigned char *)framer->pending.data + framer->done * BE_FRAME_BYTES;
	unsigned char text[BE_FRAME_TEXT + 1];
	EVP_EncodeBlock(text, data, BE_FRAME_BYTES);
	EVP_DigestUpdate(framer->sum, data, BE_FRAME_BYTES);
	body->len = 0;
	be_buf_addf(body, "%s-%04x-%06zx-%06zx %s", framer->run, framer->entries, framer->done, framer->lines,
		    (const char *)text);
	add_line(body, out);
	framer->bytes += BE_FRAME_BYTES;
	framer->done++;
}

bool be_framer_take(struct be_framer *framer, size_t lines, struct be_buf *out)
{
	be_autobuf struct be_buf body = { 0 };
	if (framer->done == framer->lines)
		return false;
	for (; lines && framer->done < framer->lines; lines--)
		add_data(framer, &body, out);
	if (framer->done == framer->lines) {
		framer->entries++;
		framer->pending.len = framer->done = framer->lines = 0;
	}
	return true;
}

void be_framer_end(struct be_framer *framer, struct be_buf *out)
{
	be_autobuf struct be_buf body = { 0 };
	unsigned char sum[EVP_MAX_MD_SIZE] = { 0 };
	unsigned len = 0;
	EVP_DigestFinal_ex(framer->sum, sum, &len);
	be_buf_addf(&body, "%s-end %04x %016" PRIx64 " ", framer->run, framer->entries, framer->bytes);
	add_hex(&body, sum, len);
	add_line(&body, out);
}
