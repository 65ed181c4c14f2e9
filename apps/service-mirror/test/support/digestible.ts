import { isIP } from 'node:net';
import type { Change } from '../../src/endpoints/desired/diff/change.ts';
import { addressesOf } from '../../src/endpoints/desired/compact.ts';

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * What in a write kube-proxy (nftables and iptables mode), CoreDNS or the API server couldn't take, one sentence each; said
 * by their sources, and by nothing of ours. `namespace`: that of the objects.
 */
export function indigestible(change: Change, namespace: string): readonly string[] {
  switch (change.kind) {
    case 'create-service': {
      const { name, definition } = change.to;
      const ports = definition.ports.flatMap((port) => [
        ...unless(isPort(port.port), `port ${port.port}`),
        // nft: "comment too long, 128 characters maximum allowed".
        ...unless(`${namespace}/${name}:${port.name}`.length <= 128, `a comment with ${port.name}`),
        ...unless(port.name === '' || LABEL.test(port.name), `the port name ${port.name}`),
      ]);
      return [
        ...ports,
        ...unless(/^[a-z]/.test(name) && LABEL.test(name), `the name ${name}`),
        ...unless(definition.ports.length <= 1_000, 'so many ports'),
      ];
    }
    case 'create-slice': {
      const { name, labels, family, ports, endpoints } = change.to;
      const isHeadless = labels['service.kubernetes.io/headless'] !== undefined;
      return [
        ...unless(name.length <= 253, 'a long name'),
        ...unless(new Set(ports.map((port) => port.name)).size === ports.length, 'two ports of one name'),
        ...unless(endpoints.length <= 1_000 && endpoints.length * ports.length <= 100_000, 'so many endpoints'),
        ...ports.flatMap((port) => [
          ...unless(port.port === undefined ? isHeadless : isPort(port.port), `port ${port.port}`),
          ...unless(port.name === '' || LABEL.test(port.name), `the port name ${port.name}`),
          ...unless(['TCP', 'UDP', 'SCTP'].includes(port.protocol), `the protocol ${port.protocol}`),
        ]),
        ...endpoints.flatMap(({ hostname, conditions, nodeName, zone, ...endpoint }) => [
          ...addressesOf(endpoint).flatMap((address) =>
            unless(isIP(address) === (family === 'IPv6' ? 6 : 4), `the address ${address}`),
          ),
          ...unless(hostname === undefined || LABEL.test(hostname), `the hostname ${hostname}`),
          // ingress-nginx and Traefik dereference them.
          ...unless(!Object.values(conditions).includes(undefined), 'an unset condition'),
          ...unless(nodeName === undefined && zone === undefined, 'a node or zone of another cluster'),
        ]),
      ];
    }
    default:
      return [`a ${change.kind}`];
  }
}

const isPort = (number: number): boolean => Number.isInteger(number) && number > 0 && number < 65_536;

const unless = (holds: boolean, what: string): readonly string[] => (holds ? [] : [what]);
