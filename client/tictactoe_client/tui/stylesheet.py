"""How the pages lie on the screen; colours go by the names that the themes give them."""

from __future__ import annotations

from typing import Final

STYLE: Final = """
Screen { background: $ground; color: $ink; overflow: hidden; align: center middle; }
#page { max-width: 120; max-height: 40; }
HomePage #page { max-width: 160; max-height: 50; }
#head { height: 2; border-bottom: solid $dim; padding: 0 1; }
#heading { width: auto; color: $title; }
#about { width: 1fr; height: 1; text-align: right; padding-left: 3; text-wrap: nowrap; text-overflow: ellipsis; }
#body { height: 1fr; padding: 0 1 0 2; }
#news { height: auto; max-height: 2; padding: 0 1; }
#keys { height: 2; border-top: solid $dim; padding: 0 1; text-wrap: nowrap; }
.-ascii #head { border-bottom: ascii $dim; }
.-ascii #keys { border-top: ascii $dim; }
Text { height: auto; }
Text.-empty { display: none; }

Rows, Scroll, Fields { background: $ground !important; color: $ink; border: none; padding: 0; scrollbar-size: 0 0; }
Rows { height: auto; text-wrap: nowrap; text-overflow: clip; }
ListPage #rows { height: 1fr; }
Rows > .option-list--option-highlighted {
    color: $block-cursor-foreground; background: $block-cursor-background; text-style: $block-cursor-text-style;
}
#columns { height: 1; text-wrap: nowrap; }
#hint { padding: 1 1 0 1; }
Scroll .topic { margin-top: 1; }

#player { max-height: 2; padding: 0 1; }
#nothing { padding: 1 1; }
.-low #nothing { padding: 0 1; }
#ways { height: 1fr; min-height: 10; }
#ways.-nowhere { height: auto; min-height: 0; }
#ways.-nowhere #aside, #ways.-nowhere #note { display: none; }
#ways.-nowhere #menu { width: 1fr; }
#menu { width: 46; }
#menu > Rows { height: 1fr; border: round $dim; }
#note { padding: 0 2; }
#aside { padding: 0 0 0 2; }
#waiting > Rows { height: 1fr; }
.-narrow #aside { display: none; }
.-narrow #menu { width: 1fr; }
.-low #ways { min-height: 4; }
.-low #menu > Rows { border: none; }
.-low #note { display: none; }
.-low #player { height: 1; }
.-ascii #menu > Rows { border: ascii $dim; }

Fields { height: 20fr; padding-left: 1; }
.field { height: 1; }
.field .title { width: 21; }
.field .value { display: block; width: 20; height: 1; }
.field .note { width: 1fr; height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
.field.-chosen { background: $ground; }
.field.-chosen .title { text-style: bold; }
.field.-chosen .value { color: $block-cursor-foreground; background: $block-cursor-background; }
.-narrow .field .note { display: none; }
#sum { padding: 1 1 0 3; max-height: 4; }
#rules { padding: 1 1 0 3; }
#sample { padding: 1 1 0 3; }
.-low #sample, .-low #rules { display: none; }
.-low #sum { padding-top: 0; max-height: 3; }
Input, Input:focus {
    background: $ground; background-tint: $ground 0%; color: $ink; border: none; height: 1; padding: 0;
}
.field Input { width: 20; }
Input > .input--cursor, Input > .input--selection {
    color: $block-cursor-foreground; background: $block-cursor-background; text-style: $block-cursor-text-style;
}

Canvas { layers: below above; }
#line { position: absolute; width: 18; padding: 0 1; display: none; layer: above; }

Question { align: center middle; background: transparent; }
#question { width: 60; max-width: 100%; height: auto; border: round $title; padding: 0 1; background: $ground; }
#question Label { width: 100%; }
#question Input { width: 100%; }
#answers { margin-top: 1; }
.-ascii #question { border: ascii $dim; }
"""
