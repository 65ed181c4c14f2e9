import { describe, expect, it } from 'vitest';
import { parseOptions, usage } from './options.ts';
import { UsageError } from './shared-options.ts';

const shared = {
  embedded: false,
  encoding: 'auto',
  repeat: 3,
  settleSeconds: 10,
  idleSeconds: 0,
  json: undefined,
  markdown: undefined,
};

describe('parseOptions', () => {
  it.each([
    {
      app: 'policy',
      want: {
        peers: [],
        changes: 300,
        pods: 10_000,
        sets: 500,
        remotes: 1,
        rolloutPods: 1000,
        networkPolicies: undefined,
      },
    },
    {
      app: 'service-mirror',
      want: { peers: [], changes: 300, services: 1000, endpoints: 10, rolloutPods: 100, peersRead: 'endpoints' },
    },
    { app: 'wireguard', want: { nodes: 1000, changes: 20, scrapes: 5 } },
  ])('has a default for everything of $app', ({ app, want }) => {
    expect(parseOptions([app])).toEqual({ app, ...shared, ...want });
  });

  it('has the sizes of the targets for NetworkPolicies', () => {
    const want = { pods: 50_000, sets: 1000, networkPolicies: { labelSets: 12_000 } };
    expect(parseOptions(['policy', '--network-policies'])).toMatchObject(want);
  });

  it('reads the options of service-mirror', () => {
    const args =
      'service-mirror --services 5000 --endpoints 250 --rollout 300 --peer-reads endpointslices --changes 7'.split(' ');
    const want = { services: 5000, endpoints: 250, rolloutPods: 300, peersRead: 'endpointslices', changes: 7 };
    expect(parseOptions(args)).toMatchObject(want);
  });

  it.each([
    { args: ['policy', '--pods', '500'], changes: 250 },
    { args: ['service-mirror', '--services', '51'], changes: 25 },
    { args: ['service-mirror', '--services', '5000'], changes: 300 },
    { args: ['wireguard', '--nodes', '19'], changes: 19 },
  ])('changes what there is, half of it, or as much as usual: $args', ({ args, changes }) => {
    expect(parseOptions(args)).toMatchObject({ changes });
  });

  it('accepts any number of peers', () => {
    const options = parseOptions(['policy', '--peer', 'a {local}', '--peer', 'b {local}', '--pods', '50000']);
    expect(options).toMatchObject({ pods: 50_000, peers: ['a {local}', 'b {local}'] });
  });

  it.each([[['--help']], [['-h']], [['policy', '--help']], [['service-mirror', '-h']], [['wireguard', '-h']]])(
    'asks for help: %j',
    (args) => {
      expect(parseOptions(args)).toBe('help');
    },
  );

  it.each([
    { args: [], message: 'name the app to measure' },
    { args: ['policies'], message: 'name the app to measure' },
    { args: ['policy', '--pods', 'many'], message: '--pods must be a whole number' },
    { args: ['policy', '--sets', '0'], message: '--sets must be a whole number of at least 1' },
    { args: ['policy', '--pods', '500', '--changes', '251'], message: '--changes must be at most half of --pods' },
    { args: ['policy', '--pods', '1'], message: '--pods must be a whole number of at least 2' },
    { args: ['policy', '--remotes', '6'], message: '--remotes must be at most 5' },
    { args: ['policy', '--network-policies', '--peer', 'x'], message: 'omit --remotes and --peer' },
    { args: ['policy', '--remotes', '2', '--peer', 'x'], message: '--peer needs a single remote' },
    { args: ['policy', '--repeat', '0'], message: '--repeat must be a whole number of at least 1' },
    { args: ['policy', '--encoding', 'xml'], message: '--encoding must be auto or json' },
    { args: ['policy', '--podz', '1'], message: "Unknown option '--podz'" },
    { args: ['policy', '--services', '1'], message: "Unknown option '--services'" },
    { args: ['policy', 'service-mirror'], message: "Unexpected argument 'service-mirror'" },
    { args: ['service-mirror', '--endpoints', '0'], message: '--endpoints must be a whole number of at least 1' },
    {
      args: ['service-mirror', '--services', '50', '--changes', '26'],
      message: '--changes must be at most half of --services',
    },
    { args: ['wireguard', '--nodes', '16385'], message: '--nodes must be at most 16384' },
    { args: ['wireguard', '--nodes', '5', '--changes', '6'], message: '--changes must be at most --nodes' },
    { args: ['wireguard', '--peer', 'x'], message: "Unknown option '--peer'" },
    { args: ['service-mirror', '--peer-reads', 'pods'], message: '--peer-reads must be endpoints or endpointslices' },
  ])('refuses $args', ({ args, message }) => {
    expect(() => parseOptions(args)).toThrow(UsageError);
    expect(() => parseOptions(args)).toThrow(message);
  });
});

it('names every flag in its usage, with the default', () => {
  const policy = ['--pods N', '(10000)', '--sets N', '(500)', '--changes N', '(300', '--rollout N', '(1000)', '(10)'];
  const wireguard = ['--nodes N', '(1000)', '--scrapes N', '(5)'];
  for (const text of [...policy, ...wireguard, '--services N', '--endpoints N', '(10)', '(100)', '--peer-reads'])
    expect(usage).toContain(text);
});
