import { execFile } from 'node:child_process';
import { copyFile, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PAUSE_IMAGE, writeDnsImage, writeImage } from '../../src/index.ts';

/** A shell with the usual commands, statically linked. */
export const BUSYBOX_IMAGE = 'localhost/busybox:1';

const BUSYBOX = '/bin/busybox';

/** Makes the images of the tests' Pods from Debian's package busybox-static. @returns their archives, in `dir` */
export async function makeImages(dir: string): Promise<readonly string[]> {
  const root = join(dir, 'root');
  await Promise.all(['bin', 'tmp', 'www'].map((folder) => mkdir(join(root, folder), { recursive: true })));
  await copyFile(BUSYBOX, join(root, 'bin', 'busybox'));
  const { stdout } = await promisify(execFile)(BUSYBOX, ['--list']);
  const names = stdout.split('\n').filter((name) => name !== '' && name !== 'busybox');
  await Promise.all(names.map((name) => symlink('busybox', join(root, 'bin', name))));
  const [pause, busybox] = [join(dir, 'pause.tar'), join(dir, 'busybox.tar')];
  await writeImage(pause, root, { name: PAUSE_IMAGE, entrypoint: ['/bin/sleep', 'infinity'] });
  await writeImage(busybox, root, { name: BUSYBOX_IMAGE, entrypoint: ['/bin/sh'] });
  return [pause, busybox, await writeDnsImage(dir)];
}
