import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks';
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';

/**
 * prom-client looks at the event loop every 10 ms, which takes 0.66 % of a core from an idle process; every 100 ms
 * takes 0.07 %.
 */
const RESOLUTION_MS = 100;

/** prom-client's names, and what each reads from the histogram, in nanoseconds. */
const LAGS: Readonly<Record<string, (histogram: IntervalHistogram) => number>> = {
  min: (histogram) => histogram.min,
  max: (histogram) => histogram.max,
  mean: (histogram) => histogram.mean,
  p50: (histogram) => histogram.percentile(50),
  p90: (histogram) => histogram.percentile(90),
  p99: (histogram) => histogram.percentile(99),
};

/**
 * Adds what every Node.js process exports: `process_*` and `nodejs_*`, under the names that dashboards know. The lag of
 * the event loop is our own measurement of it, since the last scrape. To be called once per process: its observers
 * last as long as the process.
 */
export function addProcessMetrics(registry: Registry): void {
  // Its own histogram of the event loop can't be switched off, but told to look once in 24 days.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 2 ** 31 - 1 });
  registry.removeSingleMetric('nodejs_eventloop_lag_stddev_seconds');
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  for (const [statistic, read] of Object.entries(LAGS)) {
    const name = `nodejs_eventloop_lag_${statistic}_seconds`;
    registry.removeSingleMetric(name);
    new Gauge({
      name,
      help: `Delay of the event loop since the last scrape: ${statistic}.`,
      registers: [registry],
      collect() {
        this.set(lagSeconds(histogram, read));
        // Registered last and collected last: the others have read the same span.
        if (statistic === 'p99') histogram.reset();
      },
    });
  }
}

/** The histogram holds the time between two looks; what is above the resolution is delay. 0 before the first look. */
function lagSeconds(histogram: IntervalHistogram, read: (histogram: IntervalHistogram) => number): number {
  if (histogram.count === 0) return 0;
  return Math.max(0, read(histogram) / 1e9 - RESOLUTION_MS / 1e3);
}
