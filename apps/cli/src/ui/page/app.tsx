import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { App as Program } from '../../clusters/report.ts';
import { tunnelLabel } from '../../graph/labels.ts';
import type { Place } from '../../graph/graph.ts';
import type { AppPair, Pair } from '../../status/pairs.ts';
import { age, rotationText, stateText } from '../../status/words.ts';
import type { ServiceRow } from '../mesh.ts';
import type { Checked, View } from '../view.ts';
import { Explain } from './explain.tsx';
import { Picture } from './picture.tsx';
import { useView } from './poll.ts';
import { List, Part, Result } from './table.tsx';

/** The whole page. */
export function App() {
  const [filter, setFilter] = useState('');
  const [onlyTrouble, setOnlyTrouble] = useState(false);
  const [from, setFrom] = useState<Readonly<Record<string, string>>>({});
  const query = new URLSearchParams({ filter, trouble: onlyTrouble ? '1' : '0', ...from }).toString();
  const { view, failure } = useView(query);
  const page = (list: string) => (at: number) => setFrom({ ...from, [list]: String(at) });
  return (
    <>
      <a class="skip" href="#problems">
        Skip to the problems
      </a>
      <header>
        <h1>semaphore</h1>
        <Summary view={view} failure={failure} />
        <form role="search" onSubmit={(event) => event.preventDefault()}>
          <label for="filter">Filter by name</label>
          <input
            id="filter"
            type="search"
            value={filter}
            onInput={({ currentTarget }) => {
              setFilter(currentTarget.value);
              setFrom({});
            }}
          />
          <label>
            <input
              type="checkbox"
              checked={onlyTrouble}
              onChange={({ currentTarget }) => {
                setOnlyTrouble(currentTarget.checked);
                setFrom({});
              }}
            />
            Only what needs care
          </label>
        </form>
      </header>
      <nav aria-label="Parts of the page">
        {['problems', 'picture', 'pairs', 'tunnels', 'services', 'skipped', 'checks', 'explain'].map((id) => (
          <a key={id} href={`#${id}`}>
            {id}
          </a>
        ))}
      </nav>
      <main aria-busy={view === undefined}>{view && <Parts view={view} page={page} />}</main>
    </>
  );
}

function Summary({ view, failure }: { view: View | undefined; failure: string | undefined }) {
  const now = useNow();
  if (failure !== undefined)
    return (
      <p role="alert">
        <Result kind="problem">{failure}</Result>
      </p>
    );
  if (view === undefined) return <p role="status">Reading the clusters …</p>;
  const { troubles, contexts, readAt, check } = view;
  const found = [
    ...(troubles.problems > 0 ? [counted(troubles.problems, 'problem')] : []),
    ...(troubles.silentTunnels > 0 ? [`${counted(troubles.silentTunnels, 'tunnel')} without a recent handshake`] : []),
    ...(check?.ok === false ? ['failed checks'] : []),
  ];
  return (
    <div>
      <p role="status">
        <Result kind={found.length === 0 ? 'ok' : 'problem'}>
          {found.join(', ') || 'No problem'} in {counted(contexts.length, 'cluster')}
        </Result>
      </p>
      <p class="age">Read {age(now - Date.parse(readAt))} ago</p>
    </div>
  );
}

const counted = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? '' : 's'}`;

/** Unix time, every second. */
function useNow(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

function Parts({ view, page }: { view: View; page: (list: string) => (from: number) => void }) {
  const { problems, picture, pairs, tunnels, services, skipped, check, contexts } = view;
  return (
    <>
      <List
        id="problems"
        title="Problems"
        list={problems}
        columns={[{ heading: 'Problem', cell: (row) => <Result kind="problem">{row}</Result> }]}
        empty="None."
        onPage={page('problems')}
      />
      <Picture picture={picture} />
      <List
        id="pairs"
        title="Cluster pairs"
        list={pairs}
        columns={[
          { heading: 'From', cell: (row) => row.from },
          { heading: 'To', cell: (row) => row.to },
          ...programs.map((program) => ({
            heading: program.slice(10),
            cell: (row: Pair) => appCell(row.apps[program]),
          })),
          { heading: 'Tunnels', cell: tunnelsCell },
          { heading: 'Last change', cell: ({ lastChange }) => changeCell(lastChange, view.readAt) },
        ]}
        empty="No app has a remote."
        onPage={page('pairs')}
      />
      <List
        id="tunnels"
        title="Tunnels"
        list={tunnels}
        columns={[
          { heading: 'One end', cell: ({ ends: [end] }) => placeText(end) },
          { heading: 'Other end', cell: ({ ends: [, end] }) => placeText(end) },
          {
            heading: 'State',
            cell: (row) => <Result kind={tunnelKinds[row.state]}>{tunnelLabel(row)}</Result>,
          },
        ]}
        empty="No agent has a peer."
        onPage={page('tunnels')}
      />
      <List
        id="services"
        title="Services"
        list={services}
        columns={[
          { heading: 'Service', cell: (row) => row.service },
          { heading: 'Kind', cell: (row) => row.kind },
          { heading: 'Seen in', cell: (row) => row.cluster },
          { heading: 'Ready endpoints', cell: endpointsCell },
        ]}
        empty="No Service of another cluster."
        onPage={page('services')}
      />
      <List
        id="skipped"
        title="Skipped objects"
        list={skipped}
        columns={[
          { heading: 'Cluster', cell: (row) => row.cluster },
          { heading: 'Of', cell: (row) => row.remote },
          { heading: 'App', cell: (row) => row.app },
          {
            heading: 'Reason',
            cell: ({ kind, reason }) => <Result kind={kind === 'problem' ? 'warning' : 'skipped'}>{reason}</Result>,
          },
          { heading: 'Objects', cell: (row) => row.count },
        ]}
        empty="None."
        onPage={page('skipped')}
      />
      <Checks check={check} />
      <Explain contexts={contexts} />
    </>
  );
}

const programs: readonly Program[] = ['semaphore-policy', 'semaphore-service-mirror', 'semaphore-wireguard'];

const tunnelKinds = { up: 'ok', stale: 'warning', never: 'problem' } as const;

const placeText = ({ cluster, node }: Place): string => `${cluster} / ${node}`;

function appCell(pair: AppPair | undefined): ComponentChildren {
  if (pair === undefined) return '-';
  const kind = pair.state === 'up' ? 'ok' : pair.state === 'unknown' ? 'unknown' : 'problem';
  return (
    <Result kind={kind}>
      {stateText(pair)}
      {pair.error !== null && `: ${pair.error}`}
    </Result>
  );
}

function changeCell(lastChange: string | null, readAt: string): ComponentChildren {
  if (lastChange === null) return '-';
  return <time dateTime={lastChange}>{age(Date.parse(readAt) - Date.parse(lastChange))} ago</time>;
}

function tunnelsCell({ from, to, tunnels, rotation }: Pair): ComponentChildren {
  if (tunnels === null) return '-';
  const { up, all } = tunnels;
  return (
    <>
      <Result kind={up === all ? 'ok' : 'problem'}>
        {up} of {all} up
      </Result>
      {rotation !== null && (
        <Result kind={rotation.late ? 'warning' : 'ok'}>{rotationText({ from, to, rotation })}</Result>
      )}
    </>
  );
}

/** A global Service may be of all clusters. */
const MAX_SOURCES = 10;

function endpointsCell({ endpoints }: ServiceRow): ComponentChildren {
  const ready = endpoints.reduce((sum, each) => sum + each.ready, 0);
  const rest = endpoints.length - MAX_SOURCES;
  return (
    <Result kind={ready > 0 ? 'ok' : 'warning'}>
      {endpoints
        .slice(0, MAX_SOURCES)
        .map(
          ({ cluster, ready: own, standby }) =>
            `${own} in ${cluster}${standby === 0 ? '' : ` and ${standby} as standby`}`,
        )
        .join(', ') || 'of no cluster'}
      {rest > 0 && ` and ${counted(rest, 'other cluster')}`}
    </Result>
  );
}

function Checks({ check }: { check: Checked | null }) {
  const now = useNow();
  return (
    <Part id="checks" title="Checks">
      {check === null ? (
        <p>The first checks are running …</p>
      ) : (
        <>
          <p class="age">Checked {age(now - Date.parse(check.checkedAt))} ago, as semaphore check does</p>
          <ul class="checks">
            {check.checks.map(({ name, hint, result, findings, total }) => (
              <li key={name}>
                <Result kind={result}>
                  {name}: {result}
                </Result>
                {total > 0 && (
                  <ul>
                    {findings.map(({ severity, detail }, i) => (
                      <li key={i}>
                        <Result kind={severity === 'note' ? 'ok' : severity}>{detail}</Result>
                      </li>
                    ))}
                    {total > findings.length && <li>and {total - findings.length} more</li>}
                    <li>What to do: {hint}</li>
                  </ul>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
    </Part>
  );
}
