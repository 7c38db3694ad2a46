#include <criterion/criterion.h>
#include <string.h>

#include "builder/report/import.h"

/* The text that is read of a mail; the caller frees. */
static char *decode(const char *mail, bool *attached)
{
	struct be_error err = BE_ERROR_INIT;
	be_autobuf struct be_buf out = { 0 };
	cr_assert_eq(be_mail_decode_text(mail, strlen(mail), &out, attached, &err), 0, "%s", err.text);
	return be_buf_steal(&out);
}

#define EXPECT_HAS(text, part) cr_expect(strstr((text), (part)), "no \"%s\" in:\n%s", (part), (text))

static const char multipart[] = "From mboxrd@z Thu Jan  1 00:00:00 1970\n"
				"Subject: =?utf-8?q?=5Bxfs=5D?= abcdef0123: fio.read_iops -7.7% regression\n"
				"Date: Thu, 6 Jul 2023 15:29:10 +0800\n"
				"From: Somebody <somebody@example.org>\n"
				"MIME-Version: 1.0\n"
				"Content-Type: multipart/mixed; boundary=\"frontier\"\n"
				"\n"
				"--frontier\n"
				"Content-Type: text/plain; charset=utf-8\n"
				"Content-Transfer-Encoding: quoted-printable\n"
				"\n"
				"testcase: fio-basic\n"
				"bs/compiler/testcase:\n"
				"  4k/gcc-=\n"
				"12/fio-basic\n"
				"ucode=3D0x1\n"
				"--frontier\n"
				"Content-Type: text/plain; charset=iso-8859-1; name=\"compare.txt\"\n"
				"Content-Transfer-Encoding: base64\n"
				"\n"
				"MC4wMyCxIDclCg==\n"
				"--frontier\n"
				"Content-Type: text/plain; charset=utf-8\n"
				"Content-Disposition: attachment; filename=\"job.yaml\"\n"
				"\n"
				"testcase: other\n"
				"--frontier--\n";

Test(import, parts_are_decoded_and_the_job_file_is_noticed)
{
	bool attached = false;
	be_autofree char *text = decode(multipart, &attached);
	EXPECT_HAS(text, "Subject: [xfs] abcdef0123");
	EXPECT_HAS(text, "Date: Thu, 6 Jul 2023 15:29:10 +0800\n");
	EXPECT_HAS(text, "  4k/gcc-12/fio-basic\nucode=0x1\n");
	EXPECT_HAS(text, "0.03 \xc2\xb1 7%");
	cr_expect_null(strstr(text, "testcase: other"));
	cr_expect_null(strstr(text, "somebody"), "no person is kept");
	cr_expect(attached);
}

Test(import, html_counts_where_there_is_no_plain_text)
{
	be_autofree char *text = decode("Subject: a\nDate: Thu, 6 Jul 2023 15:29:10 +0800\nMIME-Version: 1.0\n"
					"Content-Type: multipart/alternative; boundary=x\n\n"
					"--x\nContent-Type: text/plain\n\nplain\n"
					"--x\nContent-Type: text/html\n\n<p>page</p>\n--x--\n",
					NULL);
	EXPECT_HAS(text, "plain");
	cr_expect_null(strstr(text, "page"));
	be_autofree char *only = decode("Subject: a\nDate: Thu, 6 Jul 2023 15:29:10 +0800\nMIME-Version: 1.0\n"
					"Content-Type: text/html\n\n<p>page</p>\n",
					NULL);
	EXPECT_HAS(only, "<p>page</p>");
}

Test(import, several_mails_of_an_mbox)
{
	be_autofree char *text =
		decode("From a@b Thu Jan  1 00:00:00 1970\nSubject: one\nDate: Thu, 6 Jul 2023 15:29:10 +0800\n"
		       "\nfirst\n\n"
		       "From a@b Thu Jan  1 00:00:00 1970\nSubject: two\nDate: Fri, 7 Jul 2023 15:29:10 +0800\n"
		       "\nsecond\n",
		       NULL);
	EXPECT_HAS(text, "Subject: one\nDate: Thu, 6 Jul");
	EXPECT_HAS(text, "first\n");
	EXPECT_HAS(text, "Subject: two\nDate: Fri, 7 Jul");
	EXPECT_HAS(text, "second\n");
}

Test(import, text_without_a_header_stays)
{
	be_autofree char *text = decode("a = b\nkey: value\n", NULL);
	cr_expect_str_eq(text, "a = b\nkey: value\n");
	be_autofree char *raw = decode("> =\n=3D=3D=3D\n> a/b/testcase:\n>  =\nx/y-=\nz/t\n", NULL);
	cr_expect_str_eq(raw, "> ===\n> a/b/testcase:\n>  x/y-z/t\n");
}

Test(import, mails_and_jobs_are_told_apart)
{
	static const char *const mails[] = { "Subject: a\nDate: b\n\ntext\n", "From a@b Thu\nSubject: a\nFrom: b\n\n",
					     "Date:   a\nFrom: b\n continued\nTo: c\n\n" };
	static const char *const jobs[] = { "suite: a\ntestcase: b\n\nfs: c\n", "", "# From: a\n", "from: a\n" };
	for (size_t i = 0; i < BE_ARRAY_LEN(mails); i++)
		cr_expect(be_is_mail(mails[i], strlen(mails[i])), "%s", mails[i]);
	for (size_t i = 0; i < BE_ARRAY_LEN(jobs); i++)
		cr_expect_not(be_is_mail(jobs[i], strlen(jobs[i])), "%s", jobs[i]);
}
