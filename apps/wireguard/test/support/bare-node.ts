import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A peer in the output of `wg`. */
type ShownPeer = {
  readonly publicKey: string;
  readonly endpoint: string;
  readonly allowedIps: string;
  readonly handshakeSeconds?: number;
  readonly sentBytes?: number;
};

/** Our device of a remote, in the output of `wg` and `ip`. */
type ShownDevice = {
  readonly remote: string;
  readonly privateKey: string;
  readonly publicKey: string;
  readonly peers?: readonly ShownPeer[];
  /** What the kernel has refused of it. */
  readonly refusedPackets?: number;
  /** What the kernel has received through it. It has sent a tenth. */
  readonly receivedBytes?: number;
};

/**
 * A node with fake programs `wg` and `ip`, for tests without tunnels: without root, and without installed tools. It has no link,
 * and can't create any, until a test shows a device. From then on every change succeeds, and has no effect.
 */
export class BareNode {
  /** The PATH of programs on it. */
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** @param dir a folder, in which another is made */
  static async make(dir: string): Promise<BareNode> {
    const node = new BareNode(join(dir, 'bare-node'));
    await mkdir(node.path, { recursive: true });
    await Promise.all([node.#write('dump', ''), node.#write('links', '[]'), node.#write('calls', '')]);
    await writeFile(join(node.path, 'wg'), WG, { mode: 0o755 });
    await writeFile(join(node.path, 'ip'), IP, { mode: 0o755 });
    return node;
  }

  /** Sets the output of `wg` and `ip`. */
  async show(...devices: readonly ShownDevice[]): Promise<void> {
    await this.#write('links', JSON.stringify(devices.map(linkOf)));
    await this.#write('dump', devices.flatMap(dumpOf).join(''));
  }

  /** The command lines of `wg` and `ip` so far, oldest first. */
  async calls(): Promise<readonly string[]> {
    return (await readFile(join(this.path, 'calls'), 'utf8')).split('\n').slice(0, -1);
  }

  /** Atomically, as a program may read it meanwhile. */
  async #write(name: string, text: string): Promise<void> {
    const path = join(this.path, name);
    await writeFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
  }
}

const linkOf = ({ remote, refusedPackets = 0, receivedBytes = 0 }: ShownDevice, index: number) => ({
  ifname: `wireguard.${remote}`,
  ifindex: 7 + index,
  mtu: 1420,
  flags: ['UP'],
  ifalias: `semaphore-wireguard ${remote}`,
  linkinfo: { info_kind: 'wireguard' },
  addr_info: [],
  stats64: {
    rx: { packets: 9, bytes: receivedBytes, errors: refusedPackets, frame_errors: refusedPackets },
    tx: { bytes: receivedBytes / 10 },
  },
});

function dumpOf({ remote, privateKey, publicKey, peers = [] }: ShownDevice, index: number): readonly string[] {
  const name = `wireguard.${remote}`;
  const lines = [
    [name, privateKey, publicKey, 51_820 + index, 'off'],
    ...peers.map((peer) => [
      name,
      peer.publicKey,
      '(none)',
      peer.endpoint,
      peer.allowedIps,
      peer.handshakeSeconds ?? 0,
      0,
      peer.sentBytes ?? 0,
      25,
    ]),
  ];
  return lines.map((fields) => `${fields.join('\t')}\n`);
}

const BEGIN = `#!/bin/sh
cd "\${0%/*}" || exit
PATH=/usr/bin:/bin
echo "\${0##*/} $*" >> calls
`;

const WG = `${BEGIN}
case "$1 $2 $3" in
  "show all dump") cat dump ;;
  "show "*" dump") sed -n "s/^$2\t//p" dump | grep . || { echo "Unable to access interface: No such device" >&2; exit 1; } ;;
  "show "*" private-key") sed -n "s/^$2\t\\([^\t]*\\).*/\\1/p" dump | head -n 1 | grep . ;;
  *) [ -s dump ] ;;
esac
`;

const IP = `${BEGIN}
case "$*" in
  *"address show") cat links ;;
  *"route show"*) echo "[]" ;;
  *) [ -s dump ] ;;
esac
`;
