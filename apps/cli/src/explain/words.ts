import { UsageError } from '../usage-error.ts';

/** Where a packet comes from, or goes to. The context may have slashes. */
export type End = { readonly context: string; readonly namespace: string; readonly name: string };

/** `mirror`: `<service>.<namespace>.svc.cluster.<remote>`; and the two names that several clusters share. */
export type Zone = 'mirror' | 'global' | 'import';

/** Where a packet goes. A Pod, if there is no Service with the name. */
export type Destination = End & {
  /** Name or number; of a Service if it has one. */
  readonly port: string | undefined;
  /** Which kind of name it must be reached by; undefined: any. */
  readonly zone: Zone | undefined;
};

/** @throws {UsageError} */
export function parseSource(text: string): End {
  const end = endOf(text);
  if (end === undefined) throw new UsageError(`--from ${JSON.stringify(text)} is not a Pod: use context/namespace/pod`);
  return end;
}

/**
 * Reads `context/namespace/name[:port]`, or a DNS name. The context of `….svc.cluster.c2` is c2.
 *
 * @param context of a DNS name that several clusters share
 * @throws {UsageError}
 */
export function parseDestination(text: string, context: string | undefined): Destination {
  const [, address = text, port] = /^(.*):([a-z0-9-]{1,15})$/.exec(text) ?? [];
  const end = endOf(address);
  if (end !== undefined) return { ...end, port, zone: undefined };
  const dns = /^([a-z0-9-]+)\.([a-z0-9-]+)\.svc\.(?:cluster\.([A-Za-z0-9.-]+?)|(clusterset)\.local)\.?$/.exec(address);
  if (dns === null)
    throw new UsageError(
      `--to ${JSON.stringify(text)} is not a Service, Pod or DNS name: use context/namespace/name, or service.namespace.svc.cluster.c2`,
    );
  const [, name = '', namespace = '', remote = '', clusterset] = dns;
  const zone = clusterset !== undefined ? 'import' : remote === 'global' ? 'global' : 'mirror';
  const found = zone === 'mirror' ? remote : context;
  if (found === undefined)
    throw new UsageError(`several clusters may answer for ${address}: choose one with --to-context`);
  return { context: found, namespace, name, port, zone };
}

function endOf(text: string): End | undefined {
  const [name = '', namespace = '', ...before] = text.split('/').toReversed();
  const context = before.toReversed().join('/');
  return name === '' || namespace === '' || context === '' ? undefined : { context, namespace, name };
}
