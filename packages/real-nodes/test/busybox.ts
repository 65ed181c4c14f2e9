import { dnsImage, fileImage, type ImageSource } from '../src/index.ts';

/** A shell and some commands, of Debian's package busybox-static. */
export const BUSYBOX_IMAGE = 'localhost/busybox:1';

const commands = ['grep', 'hostname', 'httpd', 'nc', 'nslookup', 'seq', 'sh', 'sleep', 'tail'];

const busybox = {
  files: { 'bin/busybox': '/bin/busybox' },
  links: Object.fromEntries(commands.map((command) => [`bin/${command}`, 'busybox'])),
};

/** The images of the tests' Pods. */
export const images = (): readonly ImageSource[] => [
  fileImage({ ...busybox, name: BUSYBOX_IMAGE, entrypoint: ['/bin/sh'] }),
  dnsImage(),
];
