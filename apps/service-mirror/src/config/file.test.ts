import { fieldsMissingIn } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { configFile, parseMirrorFile } from './file.ts';

/** The example file in the Go program's repository, with other host names. */
const ADOPTED = {
  global: {
    globalSvcLabelSelector: 'mirror.semaphore.uw.io/global-service=true',
    globalSvcRoutingStrategyLabel: 'mirror.semaphore.uw.io/global-service-routing-strategy=local-first',
    mirrorSvcLabelSelector: 'uw.systems/mirror=true',
    mirrorNamespace: 'sys-semaphore',
    serviceSync: true,
    endpointSliceSync: true,
  },
  localCluster: { name: 'local', zones: ['eu-west-1a'], kubeConfigPath: '' },
  remoteClusters: [
    {
      name: 'c1',
      kubeConfigPath: '',
      remoteAPIURL: 'https://c1',
      remoteCAURL: 'https://ca.c1',
      remoteSATokenPath: '/etc/semaphore-service-mirror/tokens/c1/token',
      resyncPeriod: '10s',
      servicePrefix: 'c1',
    },
  ],
};

describe('the file of -config', () => {
  it('accepts the file of the Go program', () => {
    expect(parseMirrorFile(JSON.stringify(ADOPTED, null, '\t'))).toEqual({ ok: true, value: ADOPTED, warnings: [] });
  });

  it('accepts the file of the Go program from before global services', () => {
    const value = {
      global: { labelSelector: 'mirror=true', mirrorNamespace: 'sys', serviceSync: true },
      remoteClusters: ADOPTED.remoteClusters,
    };
    expect(parseMirrorFile(JSON.stringify(value))).toEqual({ ok: true, value, warnings: [] });
  });

  it('accepts our own fields, and misspellings in deployed files', () => {
    const value = {
      global: { globalSvcHints: 'labelled', globalSvcTopologyLabel: 'a=b', globalSvcRoutingStrategy: 'a=b' },
      remoteClusters: [
        {
          remoteSATokenPiath: '/t',
          allowedPodCIDRs: ['10.4.0.0/16'],
          staleAfter: '1h',
          staleAction: 'remove',
          resyncPeriod: 1e9,
        },
      ],
    };
    expect(parseMirrorFile(JSON.stringify(value))).toEqual({ ok: true, value, warnings: [] });
  });

  it('is read as Go reads JSON: keys in any case, and null as unset', () => {
    const file = parseMirrorFile(
      '{"Global": null, "remoteClusters": [{"remoteApiUrl": "https://c1", "allowedPodCidrs": [], "resyncPeriod": null}]}',
    );
    expect(file).toEqual({
      ok: true,
      value: { remoteClusters: [{ remoteAPIURL: 'https://c1', allowedPodCIDRs: [] }] },
      warnings: [],
    });
  });

  it('is refused with alowedPodCIDRs, which resembles a known key', () => {
    const problems = ['remoteClusters[0]: unknown key alowedPodCIDRs, did you mean allowedPodCIDRs?'];
    expect(parseMirrorFile('remoteClusters: [{ name: c1, alowedPodCIDRs: [] }]')).toEqual({ ok: false, problems });
  });

  it('may have unknown keys, even beside keys in another case', () => {
    const file = parseMirrorFile('RemoteClusters: [{ name: c1, owner: me }]\ncomment: hello\n');
    expect(file).toMatchObject({ ok: true, value: { remoteClusters: [{ name: 'c1' }] } });
    expect(file.ok && file.warnings.toSorted()).toEqual([
      'remoteClusters[0]: unknown key owner',
      'the file: unknown key comment',
    ]);
  });

  it.each([
    { name: 'no remotes', source: 'global: {}', want: /^remoteClusters: / },
    { name: 'an empty list of remotes', source: 'remoteClusters: []', want: /^remoteClusters: / },
    {
      name: 'zones that are not a list',
      source: 'localCluster: { zones: a }\nremoteClusters: [{ name: c1 }]',
      want: /^localCluster\.zones: /,
    },
  ])('is refused with $name', ({ source, want }) => {
    expect(parseMirrorFile(source)).toEqual({ ok: false, problems: [expect.stringMatching(want)] });
  });

  it('has a value of the chart for each field, but for names that only files of the Go program have', () => {
    const fields = z.toJSONSchema(configFile, { io: 'input', unrepresentable: 'any' });
    expect(fieldsMissingIn('semaphore-service-mirror', fields, 'remoteClusters')).toEqual([
      'global.globalSvcTopologyLabel',
      'global.globalSvcRoutingStrategy',
      'global.labelSelector',
      'remoteClusters.remoteSATokenPiath',
    ]);
  });
});
