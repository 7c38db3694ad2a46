/* What a kernel can do, as far as its release and configuration tell. */
#include <stdio.h>
#include <string.h>

#include "builder/kernel/kernel.h"

char *be_kernel_config_value(const struct be_kernel *kernel, const char *symbol)
{
	if (!kernel->config.path)
		return NULL;
	be_autofree char *line = be_strf("\nCONFIG_%s=", symbol);
	const char *text = kernel->config_text.data, *value = NULL;
	if (be_starts(text, line + 1))
		value = text + strlen(line + 1);
	else if ((text = strstr(text, line)) != NULL)
		value = text + strlen(line);
	if (!value)
		return NULL;
	size_t len = strcspn(value, "\n");
	if (len >= 2 && value[0] == '"' && value[len - 1] == '"')
		return be_strndup(value + 1, len - 2);
	return be_strndup(value, len);
}

enum be_config be_kernel_config(const struct be_kernel *kernel, const char *symbol)
{
	if (!kernel->config.path)
		return BE_CONFIG_UNKNOWN;
	be_autofree char *value = be_kernel_config_value(kernel, symbol);
	if (!value || be_streq(value, "n"))
		return BE_CONFIG_NO;
	return be_streq(value, "m") ? BE_CONFIG_MODULE : BE_CONFIG_YES;
}

static bool older(const char *release, const char *oldest)
{
	unsigned a[3] = { 0 }, b[3] = { 0 };
	if (sscanf(release, "%u.%u.%u", &a[0], &a[1], &a[2]) < 2 || sscanf(oldest, "%u.%u.%u", &b[0], &b[1], &b[2]) < 2)
		return false;
	for (int i = 0; i < 3; i++)
		if (a[i] != b[i])
			return a[i] < b[i];
	return false;
}

int be_kernel_check(const struct be_kernel *kernel, const char *oldest, struct be_error *err)
{
	if (oldest && older(kernel->release, oldest)) {
		be_fail_usage(err,
			      "kernel %s is too old for the image's programs: their C library runs on %s and later",
			      kernel->release, oldest);
		return be_hint(err, "choose an older suite with --suite, or a newer kernel");
	}
	if (be_kernel_config(kernel, "BLK_DEV_INITRD") == BE_CONFIG_NO) {
		be_fail_usage(err, "kernel %s cannot boot from an initrd: CONFIG_BLK_DEV_INITRD is not set",
			      kernel->release);
		return be_hint(err, "build it with CONFIG_BLK_DEV_INITRD=y");
	}
	return 0;
}

/* zstd came with Linux 5.9; a kernel whose configuration is not known gets gzip, which all have by default. A kernel
 * without a decompressor still unpacks a plain archive. */
void be_kernel_compressor(const struct be_kernel *kernel, bool small, struct be_compressor *compressor)
{
	if (be_kernel_config(kernel, "RD_ZSTD") == BE_CONFIG_YES)
		*compressor = (struct be_compressor){ .name = "zstd", .level = small ? 18 : 3 };
	else if (be_kernel_config(kernel, "RD_GZIP") != BE_CONFIG_NO)
		*compressor = (struct be_compressor){ .name = "gzip", .level = small ? 9 : 6 };
	else
		*compressor = (struct be_compressor){ .name = "none" };
}
