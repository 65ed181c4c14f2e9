import { posix } from 'node:path';
import type { Bind } from '../containers/run.ts';
import type { Container } from './pod-spec.ts';

/**
 * What a container mounts, outer paths before those inside them.
 *
 * @param folders where the Pod's volumes are, by their names
 * @throws {Error} if it mounts a volume that the Pod doesn't have
 */
export function bindsOf({ name, volumeMounts = [] }: Container, folders: ReadonlyMap<string, string>): readonly Bind[] {
  return volumeMounts
    .map(({ name: volume, mountPath, subPath, readOnly = false }) => {
      const folder = folders.get(volume);
      if (folder === undefined) throw new Error(`container ${name} mounts ${volume}, which is no volume of the Pod`);
      return {
        source: subPath === undefined ? folder : posix.join(folder, subPath),
        target: posix.normalize(mountPath).replace(/\/$/, ''),
        readOnly,
      };
    })
    .toSorted((a, b) => a.target.localeCompare(b.target, 'en'));
}

/** What the script below is written in. */
const functions = `set -e
# Makes a path appear at another, which is made if there is none.
show() {
  if [ -d "$1" ]; then mkdir -p "$2"; elif ! [ -e "$2" ]; then mkdir -p "$(dirname "$2")"; : > "$2"; fi
  mount --bind "$1" "$2"
}
# Lets the top folder of a path that doesn't exist be written to, without consequences.
cover() {
  target=$(readlink -m "$1") top=\${target#/} top=\${top%%/*}
  if [ -e "$target" ] || [ "$top" = run ] || [ -e "/mnt/upper-$top" ]; then return; fi
  mkdir "/mnt/upper-$top" "/mnt/work-$top"
  mount -t overlay overlay -o "lowerdir=/$top,upperdir=/mnt/upper-$top,workdir=/mnt/work-$top" "/$top"
}
# A mount point may be a link, as /var/run and /etc/resolv.conf may be.
place() {
  target=$(readlink -m "$2")
  show "/mnt/$1" "$target"
  [ "$3" = rw ] || mount -o remount,bind,ro "$target"
}`;

/**
 * A script for sh that gives the mount namespace which it runs in what a container has: the binds, and nothing else in
 * /run. It then becomes the program that its arguments name. Where a mount point is missing, the top folder on the way to
 * it is covered by an overlay, so that the machine's own stays as it is.
 */
export function mountScript(binds: readonly Bind[]): string {
  return [
    functions,
    // All sources first: one target may cover where another source is.
    'mount -t tmpfs -o mode=755 tmpfs /mnt',
    ...binds.map(({ source }, index) => `show ${quote(source)} /mnt/${index}`),
    'mount -t tmpfs -o mode=755 tmpfs /run',
    // A cover hides what is mounted below it.
    ...binds.map(({ target }) => `cover ${quote(target)}`),
    ...binds.map(({ target, readOnly }, index) => `place ${index} ${quote(target)} ${readOnly ? 'ro' : 'rw'}`),
    'exec "$@"',
  ].join('\n');
}

const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
