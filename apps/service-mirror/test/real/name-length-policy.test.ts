// Real: an API server and gator evaluate the admission policies.
import { eventually } from '@kube-semaphore/eventually';
import { mirrorServiceName } from '../../src/names.ts';
import { bash, docBlocks, expressionWarnings } from '@kube-semaphore/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { table } from '../name-length/cases.ts';
import { NameLengthCluster } from '../name-length/name-length-cluster.ts';
import { applyConstraint } from '../name-length/constraint.ts';
import { gatekeeper, gatorVerify, verifyGroup } from '../name-length/gator.ts';
import { generated } from '../name-length/generated.ts';
import { refusals } from '../name-length/refusals.ts';

/** A Kubernetes message has at most 5 KiB. */
const cut = (text: string): string => (text.length > 5000 ? `${text.slice(0, 5000)}…` : text);

const groups = [...table, generated];
const rows = table.flatMap(({ name, parameters, cases }) =>
  cases.map((each) => ({ ...each, name: `${name}: ${each.name}`, parameters })),
);

describe('naming, of', () => {
  it.each(rows)('$name', ({ parameters, wrong, ...change }) => {
    const names = refusals(parameters, change).map((message) => / would be called (\S+), /.exec(message)?.[1]);
    expect(names).toEqual(wrong.map((prefix) => mirrorServiceName(prefix, change.namespace, change.service)));
  });
});

describe("Gatekeeper's constraint", () => {
  const passed = /^ok\t.*\nPASS\n/;

  it('passes the suite that lies beside it', async () => {
    expect(await gatorVerify(gatekeeper)).toMatch(passed);
  });

  it.each(groups)('says what naming says of $name', async (group) => {
    expect(await verifyGroup(group)).toMatch(passed);
  });
});

describe('the ValidatingAdmissionPolicy', () => {
  let world: NameLengthCluster;
  beforeAll(async () => {
    world = await NameLengthCluster.start(
      new Set(['team-with-a-name', ...groups.flatMap(({ cases }) => cases.map(({ namespace }) => namespace))]),
    );
  });
  afterAll(() => world.stop());

  it('has beside it a Gatekeeper template and constraint that can be applied as the page says', async () => {
    const [parameters, shown] = [await applyConstraint(world.cluster), 'mirror.semaphore.uw.io'];
    expect(parameters).toEqual({
      prefixes: ['c1'],
      matchLabels: { [`${shown}/mirror-service`]: 'true' },
      globalMatchLabels: { [`${shown}/global-service`]: 'true' },
    });
  });

  it('refuses what the page says, in these words', async () => {
    const [service = ''] = docBlocks('admission.md', 'Names that are too long', 'yaml');
    const [words = ''] = docBlocks('admission.md', 'Names that are too long', 'text');
    const refused = await bash(`kubectl apply -f - <<'EOF'\n${service}EOF`, world.cluster).catch(
      (error: { readonly stderr: string }) => error,
    );
    expect(refused.stderr.trim().split(/\s+/).join(' ')).toContain(words.trim().split(/\s+/).join(' '));
  });

  it('has no expression that the API server warns of', async () => {
    expect(await expressionWarnings(world.cluster.admin, 'semaphore-mirror-name-length')).toBe('none');
  });

  it.each(groups)('says what naming says of $name', async (group) => {
    const expected = group.cases.map((each) => [each.name, cut(refusals(group.parameters, each).join('; '))]);
    expect(await world.judge(group)).toEqual(Object.fromEntries(expected));
  });

  it('judges the name that the API server makes up', async () => {
    await world.forget();
    await world.configure({ prefixes: ['europe'] });
    const metadata = { generateName: 'the-server-completes-this-quite-long-name-' };
    const { body } = await world.cluster.admin.request('POST', '/api/v1/namespaces/shop/services', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { clusterIP: 'None' },
    });
    expect(body['message']).toMatch(
      /would be called europe-shop-73736d-the-server-completes-this-quite-long-name-[a-z0-9]{5}, which is too long by /,
    );
  });

  it('goes by every MirrorNameLength', async () => {
    await world.forget();
    await world.configure({ prefixes: ['c2'], matchLabels: { team: 'a' } });
    await world.cluster.admin.create('/apis/mirror.semaphore.uw.io/v1/mirrornamelengths', {
      apiVersion: 'mirror.semaphore.uw.io/v1',
      kind: 'MirrorNameLength',
      metadata: { name: 'another' },
      spec: { prefixes: ['europe'], matchLabels: { team: 'b' } },
    });
    const service = { namespace: 'shop', service: 'x'.repeat(60) };
    for (const [team, prefix] of [
      ['a', 'c2'],
      ['b', 'europe'],
    ] as const) {
      await eventually(
        async () => (await world.create(service, { labels: { team } })).includes(`called ${prefix}-shop`),
        true,
      );
    }
    expect(await world.create(service, { labels: { team: 'c' } })).toBe('');
  });

  it.each([
    { what: 'a parameter that is misspelt', spec: { prefixes: ['c2'], matchLabel: { a: 'b' } } },
    { what: 'no prefixes', spec: { matchLabels: { a: 'b' } } },
    { what: 'a prefix twice', spec: { prefixes: ['c2', 'c2'] } },
    { what: 'a label that is no text', spec: { prefixes: ['c2'], matchLabels: { a: true } } },
  ])('refuses parameters with $what', async ({ spec }) => {
    const object = {
      apiVersion: 'mirror.semaphore.uw.io/v1',
      kind: 'MirrorNameLength',
      metadata: { name: 'wrong' },
      spec,
    };
    const applied = await bash(`kubectl apply -f - <<< '${JSON.stringify(object)}'`, world.cluster).catch(
      (error: { readonly stderr: string }) => error,
    );
    expect(applied.stderr).toMatch(/spec\.(matchLabel|prefixes)/);
  });

  it('allows everything while the kind of its parameters does not exist', async () => {
    await world.forget();
    await world.configure({ prefixes: ['europe'] });
    await world.loseKind();
    const service = { namespace: 'shop', service: 'x'.repeat(63) };
    await eventually(() => world.create(service, {}), '');
  });
});
