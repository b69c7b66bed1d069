// Decodes images for a program that uses CausewayImages, in a sandboxed process.
#include "causeway_images.h"

int main(int argc, char **argv) { return cw_image_decoder_main(argc, argv); }
