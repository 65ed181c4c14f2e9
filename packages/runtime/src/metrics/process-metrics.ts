import { monitorEventLoopDelay } from 'node:perf_hooks';
import { LONGEST_TIMER_MS } from '@kube-semaphore/options';
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';

/**
 * prom-client samples the event loop every 10 ms, which costs an idle process 0.66 % of a core; every 100 ms costs
 * 0.07 %.
 */
const RESOLUTION_MS = 100;

/** Times between two samples, in nanoseconds. */
type Histogram = ReturnType<typeof monitorEventLoopDelay>;

/** The values of prom-client's metrics of the event loop, in nanoseconds. */
const LAGS: Readonly<Record<string, (histogram: Histogram) => number>> = {
  min: (histogram) => lateness(histogram.min),
  max: (histogram) => lateness(histogram.max),
  mean: (histogram) => lateness(histogram.mean),
  stddev: (histogram) => histogram.stddev,
  p50: (histogram) => lateness(histogram.percentile(50)),
  p90: (histogram) => lateness(histogram.percentile(90)),
  p99: (histogram) => lateness(histogram.percentile(99)),
};

/** 0 for a sample that is on time, or early. */
const lateness = (nanoseconds: number): number => Math.max(0, nanoseconds - RESOLUTION_MS * 1e6);

/**
 * Adds the metrics of every Node.js process: `process_*` and `nodejs_*`, under the names that dashboards use. The delay
 * of the event loop covers the time since the last scrape. Call it once: its observers live as long as the process.
 */
export function addProcessMetrics(registry: Registry): void {
  // prom-client's own histogram of the event loop can't be switched off, but it can sample once in 24 days.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LONGEST_TIMER_MS });
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  const statistics = Object.keys(LAGS);
  for (const [statistic, read] of Object.entries(LAGS)) {
    const name = `nodejs_eventloop_lag_${statistic}_seconds`;
    registry.removeSingleMetric(name);
    new Gauge({
      name,
      help: `Delay of the event loop since the last scrape: ${statistic}.`,
      registers: [registry],
      collect() {
        // The statistics of an empty histogram are NaN and 2^63.
        this.set(histogram.count === 0 ? 0 : read(histogram) / 1e9);
        // Gauges are collected in the order of their registration: the last one resets the histogram.
        if (statistic === statistics.at(-1)) histogram.reset();
      },
    });
  }
}
