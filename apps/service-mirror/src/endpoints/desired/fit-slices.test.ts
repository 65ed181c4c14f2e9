import { describe, expect, it } from 'vitest';
import type { DesiredSlice } from './objects.ts';
import { fitSlices } from './fit-slices.ts';

const slice = (name: string, source: string, port = 80): DesiredSlice => ({
  name,
  labels: {},
  annotations: { 'mirror-svc-source': source },
  family: 'IPv4',
  ports: [{ name: 'http', protocol: 'TCP', port, appProtocol: undefined }],
  endpoints: [],
});

describe('fitSlices', () => {
  it('keeps the slice with the first source of two with one name, in any order, and reports the other', () => {
    const [a, b, c] = [slice('web-1', 'c2/shop/a'), slice('web-1', 'c2/shop/b'), slice('web-2', 'c2/shop/c')] as const;
    const diagnostics = [
      {
        cluster: 'c2',
        kind: 'problem',
        reason: 'name-taken',
        detail: 'c2/shop/b: the name web-1 belongs to c2/shop/a',
      },
    ];
    expect(fitSlices([a, b, c], 'c2')).toEqual({ slices: [a, c], diagnostics });
    expect(fitSlices([c, b, a], 'c2')).toEqual({ slices: [c, a], diagnostics });
  });

  it.each([70_000, -1, 0])('skips a slice with port %i, which an older build may have written', (port) => {
    const [good, bad] = [slice('web-1', 'c2/shop/a'), slice('web-2', 'c3/shop/b', port)];
    const labelled = { ...bad, labels: { 'mirror-endpointslice-sync-name': 'c3' } };
    expect(fitSlices([good, labelled], 'global')).toMatchObject({
      slices: [good],
      diagnostics: [{ cluster: 'c3', reason: 'bad-port' }],
    });
  });
});
