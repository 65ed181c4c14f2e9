import type { Corefile, Directive, ServerBlock } from './parse.ts';

/** What a server block answers. */
type Zone = { readonly name: string; readonly port: number; readonly scheme: string };

/** The ports of schemes, as core/dnsserver/register.go has them. */
const PORTS: Readonly<Record<string, number>> = { dns: 53, tls: 853, quic: 853, grpc: 443, https: 443, https3: 443 };

/** Lower case, with the dot at its end. */
export const fullName = (name: string): string => name.toLowerCase().replace(/\.?$/, '.');

export const isWithin = (name: string, zone: string): boolean =>
  zone === '.' || name === zone || name.endsWith(`.${zone}`);

/** The zones of a server block; a network is no zone of names. */
export const zonesOf = ({ keys }: ServerBlock): readonly Zone[] =>
  keys.map(({ text }) => {
    const [, scheme = 'dns', rest = ''] = /^(?:(dns|tls|quic|grpc|https3?|unix):\/\/)?(.*)$/s.exec(text)!;
    const [, name = '', port = ''] = /^(.*?)(?::(\d+))?$/s.exec(rest)!;
    return { name: fullName(name), port: port === '' ? (PORTS[scheme] ?? 0) : Number(port), scheme };
  });

const dnsZonesOf = (block: ServerBlock): readonly Zone[] => zonesOf(block).filter(({ scheme }) => scheme === 'dns');

/** Where Pods ask: port 53. If no server block has it, the Service `kube-dns` leads to another one. */
export function dnsPort({ blocks }: Corefile): number {
  const ports = blocks.flatMap(dnsZonesOf).map(({ port }) => port);
  return ports.includes(53) ? 53 : (ports[0] ?? 53);
}

/** The server block that gets queries for a name: that with the longest zone. One with `view` gets only some. */
export function blockFor({ blocks }: Corefile, name: string, port: number): ServerBlock | undefined {
  let found: { readonly block: ServerBlock; readonly length: number } | undefined;
  for (const block of blocks) {
    if (block.directives.some((directive) => directive.name === 'view')) continue;
    for (const zone of dnsZonesOf(block))
      if (zone.port === port && isWithin(name, zone.name) && zone.name.length > (found?.length ?? 0))
        found = { block, length: zone.name.length };
  }
  return found?.block;
}

/** The zones in the arguments of a plugin, or else those of its server block. */
export function pluginZones(args: readonly string[], block: ServerBlock): readonly string[] {
  const own = args.map((arg) => arg.replace(/^\w+:\/\//, '').replace(/:\d+$/, ''));
  return own.length > 0 ? own.map(fullName) : zonesOf(block).map(({ name }) => name);
}

/** What a directive says in its braces about something, such as `namespaces`. */
export const optionsOf = ({ lines }: Directive, name: string): readonly (readonly string[])[] =>
  lines.filter(([first]) => first === name).map(([, ...args]) => args);
