// SPDX-License-Identifier: Apache-2.0
// Charts by Apache ECharts, of which only what is used comes into the page.

import { BarChart, LineChart } from "echarts/charts";
import { AriaComponent, GridComponent, LegendComponent, TooltipComponent } from "echarts/components";
import * as echarts from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";
import { h } from "./dom.js";
import { color, isPrinting, onTheme } from "./theme.js";

echarts.use([BarChart, LineChart, GridComponent, LegendComponent, TooltipComponent, AriaComponent, CanvasRenderer]);

const PRINT_WIDTH = 660;

/**
 * `option()` gives ECharts' option in the present colours. `pick(index)`: a bar was clicked. `half`: two stand side
 * by side. Returns {element, update()}.
 */
export function chart(option, { height = 260, label = "", pick = null, half = false } = {}) {
  const element = h("div", { class: "chart", role: "img", "aria-label": label, style: `height:${height}px` });
  let drawn = null;
  const paint = () => {
    if (drawn && !element.isConnected) {
      drawn.dispose();
      return false;
    }
    if (!element.isConnected) return true;
    const width = isPrinting() ? (half ? PRINT_WIDTH / 2 - 10 : PRINT_WIDTH) : element.clientWidth;
    if (!drawn) {
      drawn = echarts.init(element, null, { width, height, devicePixelRatio: Math.max(2, devicePixelRatio) });
      if (pick) drawn.getZr().on("click", (e) => {
        const at = [e.offsetX, e.offsetY];
        if (drawn.containPixel("grid", at)) pick(drawn.convertFromPixel("grid", at));
      });
    }
    drawn.resize({ width, height });
    drawn.setOption(base(option()), true);
    return true;
  };
  onTheme(paint);
  requestAnimationFrame(paint);
  return { element, update: paint };
}

const base = (option) => ({
  animation: false,
  aria: { enabled: true },
  textStyle: { fontFamily: "system-ui, 'Noto Sans', 'DejaVu Sans', sans-serif", color: color("text") },
  ...option,
  tooltip: {
    trigger: "axis", axisPointer: { type: "shadow", shadowStyle: { opacity: 0.15 } }, confine: true, renderMode: "richText",
    backgroundColor: color("back"), borderColor: color("soft"), textStyle: { color: color("text"), fontSize: 12 }, ...option.tooltip,
  },
  legend: option.legend === null ? undefined : { top: 0, left: 0, itemWidth: 11, itemHeight: 11, itemGap: 16, textStyle: { color: color("text"), fontSize: 12 }, ...option.legend },
  grid: { left: 8, right: 16, top: 34, bottom: 8, outerBoundsMode: "same", outerBoundsContain: "all", ...option.grid },
});

export const valueAxis = (name, more = {}) => ({
  type: "value", name, nameLocation: "middle", nameGap: 42, nameTextStyle: { color: color("soft") },
  axisLabel: { color: color("soft") }, splitLine: { lineStyle: { color: color("line") } }, ...more,
});
export const categoryAxis = (data, more = {}) => ({
  type: "category", data, axisTick: { show: false }, axisLine: { lineStyle: { color: color("soft") } },
  axisLabel: { color: color("soft") }, nameTextStyle: { color: color("soft") }, ...more,
});
export const bars = (name, colorName, data, more = {}) => ({
  name, type: "bar", stack: "all", data, itemStyle: { color: color(colorName) }, emphasis: { disabled: true }, ...more,
});
export const shortened = (text, most = 26) => (text.length <= most ? text : `${text.slice(0, most - 8)}…${text.slice(-7)}`);
