import { describe, expect, it } from 'vitest';
import { networkSetYaml, policyYaml } from './manifests.ts';

const set = {
  name: 'c2-shop-checkout',
  labels: { 'managed-by': 'somebody', 'example.org/name': 'checkout', 'example.org/cluster': 'c2' },
  nets: ['10.2.0.1/32', 'fd00::1/128'],
};

describe('networkSetYaml', () => {
  it('shows name, labels and nets', () => {
    expect(networkSetYaml(set)).toEqual([
      'kind: GlobalNetworkSet',
      'metadata:',
      '  name: c2-shop-checkout',
      '  labels:',
      '    managed-by: somebody',
      '    example.org/name: checkout',
      '    example.org/cluster: c2',
      'spec:',
      '  nets:',
      '  - 10.2.0.1/32',
      '  - fd00::1/128',
    ]);
  });

  it('counts what it leaves out of a long list', () => {
    const nets = Array.from({ length: 40 }, (_, index) => `10.2.0.${index}/32`);
    expect(networkSetYaml({ ...set, nets }).slice(-2)).toEqual(['  - 10.2.0.5/32', '  # and 34 more']);
  });
});

describe('policyYaml', () => {
  it('selects the set by the labels that say whose pods it holds', () => {
    const lines = policyYaml(set, { namespace: 'payments', app: 'ledger' });
    expect(lines.slice(-2)).toEqual([
      "        example.org/name == 'checkout'",
      "        && example.org/cluster == 'c2'",
    ]);
    expect(lines).toContain("  selector: app == 'ledger'");
  });
});
