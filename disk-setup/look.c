#include "look.h"

#include <blkid/blkid.h>

#include "signature.h"

static void *work(void *data)
{
	struct be_look *look = data;
	look->rc = look->unknown ? be_signature_probe(look->device, look->node, &look->err)
				 : be_signature_list(look->device, look->node, &look->err);
	return NULL;
}

void be_look_start(struct be_look *look)
{
	blkid_init_debug(0); /* else the first probe of each thread would */
	look->started = pthread_create(&look->thread, NULL, work, look) == 0;
	if (!look->started)
		work(look);
}

int be_look_end(struct be_look *look)
{
	if (look->started)
		pthread_join(look->thread, NULL);
	return look->rc;
}
