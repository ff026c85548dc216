"""
How a report looks: one style sheet, light and dark, on screen and on paper.
"""

from __future__ import annotations


_LIGHT = """\
--ground:#fff;--raised:#f5f7f9;--ink:#17202a;--quiet:#4d5b69;--rule:#d3dae1;--link:#1d4f91;
--good:#1f6b42;--bad:#b3261e;--late:#8f4a00;--person:#4550b4;--wait:#75828f;
--late-ground:#fbe6c8;--on-mark:#fff"""

_DARK = """\
--ground:#12171d;--raised:#1a2129;--ink:#e7ecf1;--quiet:#a9b5c1;--rule:#303b46;--link:#8fbcff;
--good:#52c98b;--bad:#ff8379;--late:#f2a94b;--person:#a5aeff;--wait:#8494a4;
--late-ground:#4a3412;--on-mark:#12171d"""

STYLE = f"""
:root{{color-scheme:light dark;{_LIGHT}}}
@media (prefers-color-scheme:dark){{:root{{{_DARK}}}}}
*{{box-sizing:border-box}}
body{{margin:0 auto;padding:1.5rem;max-width:100rem;background:var(--ground);color:var(--ink);
font:16px/1.45 system-ui,sans-serif}}
h1{{font-size:1.6rem;margin:0 0 .25rem}}h2{{font-size:1.2rem;margin:2rem 0 .5rem}}
h3{{font-size:1rem;margin:1.5rem 0 .5rem}}
p{{margin:.25rem 0 .75rem;max-width:70ch}}a{{color:var(--link)}}
.quiet,footer{{color:var(--quiet)}}.good{{color:var(--good)}}.bad{{color:var(--bad)}}
.late{{color:var(--late)}}.person{{color:var(--person)}}
:focus-visible{{outline:3px solid var(--link);outline-offset:2px}}
.skip{{position:absolute;left:-100rem}}
.skip:focus{{position:static;display:inline-block;margin-bottom:1rem}}
.hidden{{position:absolute}}
.unseen{{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);
white-space:nowrap}}
.counts{{display:flex;flex-wrap:wrap;gap:.75rem;margin:1rem 0;padding:0}}
.counts div{{border:1px solid var(--rule);border-radius:.5rem;padding:.5rem .9rem;
background:var(--raised)}}
.counts dt{{font-size:.875rem}}.counts dd{{margin:0;font-size:1.4rem;font-weight:600}}
.legend{{display:flex;flex-wrap:wrap;gap:.25rem 1.5rem;list-style:none;margin:.5rem 0 1rem;
padding:0;font-size:.875rem}}
.legend li{{display:flex;align-items:center;gap:.5rem}}
.picture{{border:1px solid var(--rule);border-radius:.5rem;margin:0 0 1.5rem}}
.lanes{{list-style:none;margin:0;padding:0}}
.lanes li{{border-top:1px solid var(--rule);break-inside:avoid}}
.lane,.axis{{display:grid;grid-template-columns:
2.5rem minmax(8rem,13rem) minmax(8rem,15rem) minmax(0,3fr);gap:0 .75rem;
align-items:center;padding:.2rem 1rem;color:inherit;text-decoration:none}}
.lane:hover{{background:var(--raised)}}.lane:hover .tool{{text-decoration:underline}}
.lane:focus-visible{{outline-offset:-3px}}
.axis{{position:sticky;top:0;background:var(--ground);border-radius:.5rem .5rem 0 0;z-index:1}}
.axis svg{{grid-column:4}}
.n{{color:var(--quiet);font-size:.875rem;text-align:right;font-variant-numeric:tabular-nums}}
.tool{{font-family:ui-monospace,monospace;font-size:.875rem;overflow-wrap:anywhere}}
.state{{font-size:.875rem;line-height:1.25;overflow-wrap:anywhere}}
.bars{{width:100%;overflow:visible;background-image:
linear-gradient(to right,var(--rule) 1px,transparent 1px)}}
.axis .bars{{background:none}}
.axis text{{fill:var(--quiet);font-size:12px;text-anchor:middle}}
.axis text:first-child{{text-anchor:start}}
.axis text.end{{fill:var(--ink);text-anchor:end}}.axis text.end.early{{text-anchor:start}}
.key{{flex:none}}
rect.ran{{fill:var(--good)}}rect.failed{{fill:var(--bad)}}rect.timeout{{fill:var(--late)}}
rect.cancelled{{fill:var(--wait)}}rect.outlived{{fill:url(#hatch);stroke:var(--late)}}
rect.beside{{stroke:var(--ground)}}
rect.ran,rect.failed,rect.timeout,rect.cancelled{{stroke-width:1.5}}
rect.ran{{stroke:var(--good)}}rect.failed{{stroke:var(--bad)}}
rect.timeout{{stroke:var(--late)}}rect.cancelled{{stroke:var(--wait)}}
.hatch-ground{{fill:var(--late-ground)}}.hatch-line{{fill:var(--late)}}
line.around{{stroke:var(--wait);stroke-width:1}}
line.queued{{stroke:var(--wait);stroke-width:4}}
line.person{{stroke:var(--person);stroke-width:4;stroke-dasharray:.1 8;stroke-linecap:round}}
line.between{{stroke:var(--bad);stroke-width:2;stroke-dasharray:4 3}}
line.answer{{stroke:var(--ink);stroke-width:2}}
line.end{{stroke:var(--ink);stroke-dasharray:2 3}}
line.run{{stroke:var(--wait);stroke-width:4}}line.asked{{stroke:var(--ink);stroke-width:2}}
.mark{{overflow:visible}}.mark circle{{fill:var(--bad);stroke:var(--ground);stroke-width:1.5}}
.mark.timeout circle{{fill:var(--late)}}
.mark path{{fill:none;stroke:var(--on-mark);stroke-width:1.75}}
.mark.onward path{{stroke:var(--late);stroke-width:2}}
.scroll{{position:relative;overflow-x:auto;border:1px solid var(--rule);border-radius:.5rem}}
table{{border-collapse:collapse;width:100%;font-size:.875rem}}
caption{{text-align:left;padding:.5rem .75rem;color:var(--quiet)}}
th,td{{text-align:left;vertical-align:top;padding:.4rem .75rem;border-top:1px solid var(--rule)}}
thead th{{background:var(--raised);vertical-align:bottom}}
td.figure,th.figure{{text-align:right;font-variant-numeric:tabular-nums}}
td.figure{{white-space:nowrap}}
tbody th{{font-weight:600}}tbody td{{overflow-wrap:anywhere;min-width:7rem}}
td.figure{{min-width:0}}td.name{{min-width:11rem;font-family:ui-monospace,monospace}}
tr:target{{background:var(--raised);outline:2px solid var(--link);outline-offset:-2px}}
summary{{cursor:pointer;color:var(--link);white-space:nowrap}}
details dl{{margin:.5rem 0;min-width:15rem;max-width:60ch}}details dt{{color:var(--quiet)}}
details dd{{margin:0 0 .5rem}}
pre{{margin:0;white-space:pre-wrap;overflow-wrap:anywhere;font:.8125rem/1.4 ui-monospace,monospace;
max-height:20rem;overflow:auto}}
footer{{margin-top:2rem;font-size:.875rem}}
@media (max-width:60rem){{body{{padding:.75rem}}
.lane,.axis{{grid-template-columns:2rem minmax(0,1fr) minmax(0,1fr);padding:.3rem .5rem}}
.lane .bars,.axis svg{{grid-column:1/-1}}}}
@media print{{:root{{{_LIGHT}}}body{{max-width:none;padding:0;font-size:11px}}
.skip,.legend+p{{display:none}}.axis{{position:static}}
.scroll{{overflow:visible;border:0}}*{{print-color-adjust:exact}}
details::details-content{{content-visibility:visible;block-size:auto}}
pre{{max-height:none}}tr{{break-inside:avoid}}}}
"""
