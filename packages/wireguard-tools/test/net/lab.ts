import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtBinary } from '@kube-semaphore/testkit';
import { type Network, type NetworkNode, type Place, startNetwork } from '@kube-semaphore/testnet';
import { generatePrivateKey, publicKeyOf, runTool, systemTools, type WireGuardTools } from '../../src/index.ts';

const program = fileURLToPath(new URL('./start-device.ts', import.meta.url));

export const signal = new AbortController().signal;
export const DEVICE = 'wireguard.c2';

/** The tools, run on a node. */
export function toolsOn(node: Place): WireGuardTools {
  return systemTools((file, args, options) => runTool(...node.commandLine(file, args), options));
}

/** A network, and a folder for keys and logs; both go when it is stopped. */
export class Lab {
  readonly network: Network;
  readonly dir: string;

  private constructor(network: Network, dir: string) {
    this.network = network;
    this.dir = dir;
  }

  static async start(names: readonly string[]): Promise<Lab> {
    return new Lab(await startNetwork(names), await mkdtemp(join(tmpdir(), 'wireguard-')));
  }

  /** Starts wireguard-go from a process that then ends. @returns what that process said */
  async startDevice(node: NetworkNode, name: string, wireguardGo = builtBinary('wireguard-go')): Promise<string> {
    return (await node.run(process.execPath, [program, name, join(this.dir, `${node.name}.log`), wireguardGo])).trim();
  }

  /** A device that is up, with a key and a port. @returns its public key */
  async device(node: NetworkNode): Promise<string> {
    await this.startDevice(node, DEVICE);
    const privateKey = generatePrivateKey();
    const privateKeyFile = join(this.dir, `${node.name}.key`);
    await writeFile(privateKeyFile, privateKey.reveal(), { mode: 0o600 });
    const tools = toolsOn(node);
    await tools.changeDevice(DEVICE, { privateKeyFile, listenPort: 51_820 }, { signal });
    await tools.changeLink(DEVICE, { alias: 'semaphore-wireguard c2', mtuBytes: 1_380, up: true }, { signal });
    return publicKeyOf(privateKey);
  }

  async stop(): Promise<void> {
    await this.network.stop();
    await rm(this.dir, { recursive: true });
  }
}
