#include "builder/lab/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"

#define LINE_MAX_BYTES 65536

int be_follow_open(struct be_follow *follow, const char *path, struct be_error *err)
{
	*follow = (struct be_follow){ .fd = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0640) };
	if (follow->fd < 0 || lseek(follow->fd, 0, SEEK_END) < 0)
		return be_fail_errno(err, errno, "%s: cannot be read", path);
	return 0;
}

void be_follow_read(struct be_follow *follow, void (*take)(void *data, const char *line), void *data)
{
	char block[16384];
	ssize_t n;
	while ((n = read(follow->fd, block, sizeof(block))) > 0)
		for (ssize_t i = 0; i < n; i++) {
			if (block[i] != '\n') {
				if (block[i] && follow->line.len < LINE_MAX_BYTES)
					be_buf_addc(&follow->line, block[i]);
				continue;
			}
			if (follow->line.len && follow->line.len < LINE_MAX_BYTES)
				take(data, follow->line.data);
			be_buf_free(&follow->line);
		}
}

void be_follow_close(struct be_follow *follow)
{
	be_close_fd(&follow->fd);
	be_buf_free(&follow->line);
}
