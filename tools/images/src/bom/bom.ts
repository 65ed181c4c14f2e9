import { createHash } from 'node:crypto';

/** Something that is in a product, as CycloneDX 1.6 has it; the schema says more of each field. */
export type Component = {
  readonly type: 'application' | 'container' | 'library' | 'operating-system' | 'platform';
  readonly name: string;
  readonly version?: string;
  /** Where it comes from, by https://github.com/package-url/purl-spec. */
  readonly purl?: string;
  readonly cpe?: string;
  readonly licenses?: readonly [{ readonly license: { readonly id: string } } | { readonly expression: string }];
  readonly hashes?: readonly { readonly alg: 'SHA-512'; readonly content: string }[];
};

/** A bill of materials, of which others may be made. */
export type Bom = { readonly metadata: { readonly component: Component }; readonly components: readonly Component[] };

/** A part of a package URL: https://github.com/package-url/purl-spec says what has to be encoded. */
export const encoded = (text: string): string => encodeURIComponent(text).replaceAll('%3A', ':');

/**
 * A bill of materials in CycloneDX 1.6, as JSON. The same parts make the same text, in whatever order they are: its
 * serial number is a hash of it, and its time is that of `epoch`.
 *
 * @param subject what is made of the parts
 * @param epoch in seconds, as SOURCE_DATE_EPOCH; without it the bill has no time
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

/** A UUID of version 8, which RFC 9562 leaves to whoever makes it: here of a hash. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}
