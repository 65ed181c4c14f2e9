import { createHash } from 'node:crypto';

/** A component in CycloneDX 1.6; the schema explains each field. */
export type Component = {
  readonly type: 'application' | 'container' | 'library' | 'operating-system' | 'platform';
  readonly name: string;
  readonly version?: string;
  /** The package URL: https://github.com/package-url/purl-spec. */
  readonly purl?: string;
  readonly cpe?: string;
  readonly licenses?: readonly [{ readonly license: { readonly id: string } } | { readonly expression: string }];
  readonly hashes?: readonly { readonly alg: 'SHA-512'; readonly content: string }[];
};

/** A bill of materials, as the input of another one. */
export type Bom = { readonly metadata: { readonly component: Component }; readonly components: readonly Component[] };

/** Encodes a part of a package URL, by https://github.com/package-url/purl-spec. */
export const encoded = (text: string): string => encodeURIComponent(text).replaceAll('%3A', ':');

/**
 * A bill of materials in CycloneDX 1.6, as JSON. The same parts in any order make the same text: the serial number is a
 * hash of it, and the time is `epoch`.
 *
 * @param subject the product of the parts
 * @param epoch in seconds, as SOURCE_DATE_EPOCH; without it, the bill has no time
 */
export function renderBom(
  subject: Component,
  parts: readonly Component[],
  { epoch }: { epoch?: number | undefined } = {},
): string {
  const components = parts.map(withReference).toSorted((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1));
  const metadata = {
    ...(epoch !== undefined && { timestamp: new Date(epoch * 1000).toISOString() }),
    lifecycles: [{ phase: 'build' }],
    component: withReference(subject),
  };
  const serialNumber = `urn:uuid:${uuidOf(JSON.stringify([metadata, components]))}`;
  const bom = { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber, version: 1, metadata, components };
  return `${JSON.stringify(bom, undefined, 2)}\n`;
}

const withReference = (component: Component): Component & { 'bom-ref': string } => ({
  ...component,
  'bom-ref': component.purl ?? `${component.name}@${component.version}`,
});

/** A UUID of version 8 (RFC 9562), made from a hash. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}
