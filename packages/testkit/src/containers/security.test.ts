import { expect, it } from 'vitest';
import { securityFlags } from './security.ts';

const unconfined = '--security-opt=seccomp=unconfined';

it.each([
  { name: 'nothing, which is no seccomp profile', context: {}, want: [unconfined] },
  { name: 'the default profile', context: { seccompProfile: { type: 'RuntimeDefault' } }, want: [] },
  { name: 'the user', context: { runAsUser: 65_532 }, want: ['--user=65532', unconfined] },
  {
    name: 'the group',
    context: { runAsUser: 65_532, runAsGroup: 65_531, runAsNonRoot: true },
    want: ['--user=65532:65531', unconfined],
  },
  {
    name: 'a root that is not written to',
    context: { readOnlyRootFilesystem: true },
    want: ['--read-only', '--read-only-tmpfs=false', unconfined],
  },
  {
    name: 'no way to new privileges',
    context: { allowPrivilegeEscalation: false },
    want: ['--security-opt=no-new-privileges', unconfined],
  },
  {
    name: 'the capabilities',
    context: { capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] } },
    want: ['--cap-drop=ALL', '--cap-add=NET_ADMIN', unconfined],
  },
])('tells podman $name', ({ context, want }) => {
  expect(securityFlags(context)).toEqual(want);
});

it.each([{ runAsNonRoot: true }, { runAsNonRoot: true, runAsUser: 0 }])(
  'refuses a root that may not be one: %j',
  (context) => {
    expect(() => securityFlags(context)).toThrow('may not be root');
  },
);
