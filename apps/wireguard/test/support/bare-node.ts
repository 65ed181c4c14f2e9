import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A peer as a test has `wg` show it. */
type ShownPeer = {
  readonly publicKey: string;
  readonly endpoint: string;
  readonly allowedIps: string;
  readonly handshakeSeconds?: number;
  readonly sentBytes?: number;
};

/** A device of ours that leads to a remote, as a test has `wg` and `ip` show it. */
type ShownDevice = {
  readonly remote: string;
  readonly privateKey: string;
  readonly publicKey: string;
  readonly peers?: readonly ShownPeer[];
};

/**
 * A node whose programs `wg` and `ip` only pretend, for tests of what needs no tunnel: they run without root, and where
 * neither is installed. There is no link, and nothing can be made, until a test shows a device; from then on every change
 * is taken for done, and none is remembered.
 */
export class BareNode {
  /** The PATH of who runs on it. */
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

  /** What `wg` and `ip` show from now on. */
  async show({ remote, privateKey, publicKey, peers = [] }: ShownDevice): Promise<void> {
    const name = `wireguard.${remote}`;
    const lines = [
      [name, privateKey, publicKey, 51_820, 'off'],
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
    const link = {
      ifname: name,
      ifindex: 7,
      mtu: 1420,
      flags: ['UP'],
      ifalias: `semaphore-wireguard ${remote}`,
      linkinfo: { info_kind: 'wireguard' },
      addr_info: [],
    };
    await this.#write('links', JSON.stringify([link]));
    await this.#write('dump', lines.map((fields) => `${fields.join('\t')}\n`).join(''));
  }

  /** The command lines of `wg` and `ip` so far, oldest first. */
  async calls(): Promise<readonly string[]> {
    return (await readFile(join(this.path, 'calls'), 'utf8')).split('\n').slice(0, -1);
  }

  /** In one step: somebody may read it meanwhile. */
  async #write(name: string, text: string): Promise<void> {
    const path = join(this.path, name);
    await writeFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
  }
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
