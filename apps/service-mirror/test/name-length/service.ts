import type { Change, Version } from './refusals.ts';

/** A Service without an address, which any API server accepts. */
export function serviceOf(
  { namespace, service: name }: Pick<Change, 'namespace' | 'service'>,
  { labels, isExternal = false }: Version,
): object {
  const spec = isExternal
    ? { type: 'ExternalName', externalName: 'elsewhere.example' }
    : { type: 'ClusterIP', clusterIP: 'None' };
  return { apiVersion: 'v1', kind: 'Service', metadata: { namespace, name, labels }, spec };
}
