import { readFile, writeFile } from 'node:fs/promises';
import type { Parsed } from '@kube-semaphore/net';
import { loggable, WireGuardToolsError, type WireGuardToolsCode } from './errors.ts';
import { parsePrivateKey } from './keys.ts';
import type { LinkAddress } from './link.ts';
import { parseAllDump, parseDump } from './parse/parse-dump.ts';
import { parseLinks } from './parse/parse-links.ts';
import { parseMtu, parsePath } from './parse/parse-path.ts';
import { parseRoutes } from './parse/parse-routes.ts';
import type { DeviceRoute } from './route.ts';
import { type CallOptions, type RunTool, runTool } from './run-tool.ts';
import { setArguments } from './set-arguments.ts';
import { shared } from './shared.ts';
import type { WireGuardTools } from './tools.ts';

/** {@link WireGuardTools} by the programs `wg` and `ip` on the PATH. @param run runs a program; by default on this machine */
export function systemTools(run: RunTool = runTool): WireGuardTools {
  const wg = (args: readonly string[], options: CallOptions) => run('wg', args, options);
  const ip = (args: readonly string[], options: CallOptions) => run('ip', args, options);
  const routesOf = async (family: 4 | 6, options: CallOptions) => {
    const text = await ip(['-json', '-N', `-${family}`, 'route', 'show', 'table', 'main'], options);
    return valueOf('ip route', parseRoutes(text, family));
  };
  return {
    devices: shared(async (options) =>
      valueOf('wg show all dump', parseAllDump(await wg(['show', 'all', 'dump'], options))),
    ),
    device: async (name, options) => {
      const text = await unless(['WG_NO_DEVICE'], wg(['show', name, 'dump'], options));
      return text === undefined ? undefined : valueOf(`wg show ${name} dump`, parseDump(name, text));
    },
    privateKey: async (name, options) => {
      const text = await wg(['show', name, 'private-key'], options);
      return text.trim() === '(none)' ? undefined : valueOf(`wg show ${name} private-key`, parsePrivateKey(text));
    },
    // Several remotes are observed at once, and each needs the links and routes of the whole node.
    links: shared(async (options) => {
      // The second `-statistics` adds the kinds of errors.
      const args = ['-json', '-details', '-statistics', '-statistics', 'address', 'show'];
      return valueOf('ip address', parseLinks(await ip(args, options)));
    }),
    routes: shared(async (options) => [...(await routesOf(4, options)), ...(await routesOf(6, options))]),
    pathMtu: async (address, options) => {
      const text = await unless(['WG_NO_ROUTE'], ip(['-json', 'route', 'get', address], options));
      const path = text === undefined ? undefined : valueOf(`ip route get ${address}`, parsePath(text));
      if (path === undefined || path.mtuBytes !== undefined) return path?.mtuBytes;
      const link = await unless(['WG_NO_DEVICE'], ip(['-json', 'link', 'show', 'dev', path.device], options));
      return link === undefined ? undefined : valueOf(`ip link show ${path.device}`, parseMtu(link));
    },
    createDevice: async (name, { alias, mtuBytes }, options) => {
      const args = ['link', 'add', 'dev', name, 'alias', alias, 'mtu', String(mtuBytes), 'type', 'wireguard'];
      const made = await unless(['WG_UNSUPPORTED'], ip(args, options));
      return made === undefined ? 'unsupported' : 'created';
    },
    changeDevice: async (name, change, options) => {
      for (const args of setArguments(name, change)) await wg(args, options);
    },
    changeLink: async (name, { alias, mtuBytes, up, linkLocal }, options) => {
      const words = [
        ...(linkLocal === undefined ? [] : ['addrgenmode', 'none']),
        ...(alias === undefined ? [] : ['alias', alias]),
        ...(mtuBytes === undefined ? [] : ['mtu', String(mtuBytes)]),
        ...(up === undefined ? [] : [up ? 'up' : 'down']),
      ];
      if (words.length > 0) await ip(['link', 'set', 'dev', name, ...words], options);
    },
    deleteLink: async (name, options) => {
      await unless(['WG_NO_DEVICE'], ip(['link', 'delete', 'dev', name], options));
    },
    reversePathFilter: (name) => inFilter(name, async (path) => Number(await readFile(path, 'utf8'))),
    setReversePathFilter: (name, value) => inFilter(name, (path) => writeFile(path, String(value))),
    addAddress: async (name, address, options) => {
      const scope = address.isSilent === true ? ['scope', 'host'] : [];
      await ip(['address', 'add', textOf(address), 'dev', name, ...scope], options);
    },
    deleteAddress: async (name, address, options) => {
      await unless(absent, ip(['address', 'delete', textOf(address), 'dev', name], options));
    },
    addRoute: async (route, options) => {
      await ip(routeArguments('add', route), options);
    },
    replaceRoute: async (route, options) => {
      await ip(routeArguments('replace', route), options);
    },
    deleteRoute: async (route, options) => {
      await unless(absent, ip(routeArguments('delete', route), options));
    },
  };
}

/** Codes that say that there is nothing to delete: addresses and routes are deleted with their device. */
const absent: readonly WireGuardToolsCode[] = ['WG_ABSENT', 'WG_NO_DEVICE'];

/** Of our network namespace. A name may have dots, which `sysctl` would take for slashes. */
async function inFilter<T>(name: string, use: (path: string) => Promise<T>): Promise<T> {
  try {
    return await use(`/proc/sys/net/ipv4/conf/${name}/rp_filter`);
  } catch (error) {
    throw new WireGuardToolsError('WG_FAILED', `rp_filter of ${name}: ${loggable(String(error))}`);
  }
}

const textOf = ({ ip, prefixLength }: LinkAddress): string => `${ip}/${prefixLength}`;

function routeArguments(verb: string, { destination, device, protocol }: DeviceRoute): readonly string[] {
  const family = destination.includes(':') ? '-6' : '-4';
  return [family, 'route', verb, destination, 'dev', device, 'protocol', String(protocol)];
}

/** The output of a call; undefined if it fails with one of the codes. */
async function unless(codes: readonly WireGuardToolsCode[], call: Promise<string>): Promise<string | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof WireGuardToolsError && codes.includes(error.code)) return undefined;
    throw error;
  }
}

function valueOf<T>(call: string, parsed: Parsed<T>): T {
  if (!parsed.ok) throw new WireGuardToolsError('WG_OUTPUT', `${call}: ${parsed.reason}`);
  return parsed.value;
}
