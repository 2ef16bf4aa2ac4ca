"""The style sheet: where things stand and which colours they take. The colours are those of `themes`."""

from __future__ import annotations

from typing import Final

STYLE: Final = """
Screen { background: $ground; color: $ink; overflow: hidden; align: center middle; }
ClientScreen *, Question * { scrollbar-size: 0 0; background-tint: $ground 0%; }
#stage { width: 100%; max-width: 120; height: 100%; max-height: 34; }
#small { display: none; }
.-small #stage { display: none; }
.-small #small { display: block; }
#head { height: 2; padding: 0 1; border-bottom: solid $dim; }
#foot { height: 1; padding: 0 1; dock: bottom; }
#rule { height: 1; border-top: solid $dim; dock: bottom; margin-bottom: 1; }
#status { height: auto; max-height: 2; padding: 0 1; dock: bottom; margin-bottom: 2; display: none; }
#kept, #sum, #note { height: auto; padding: 1 3 0 3; color: $dim; }
#empty { height: auto; padding: 1 3; }
Page { padding: 1 3; background: $ground; }
Page Static { height: auto; }

OptionList, DataTable, Form { background: $ground !important; color: $ink; border: none; padding: 0; }
OptionList:focus, DataTable:focus { background-tint: $ground 0%; }
OptionList > .option-list--option-highlighted, OptionList:focus > .option-list--option-highlighted {
    color: $block-cursor-foreground; background: $block-cursor-background; text-style: $block-cursor-text-style;
}
DataTable { height: 1fr; padding: 0 2; }
DataTable > .datatable--header { background: $ground; color: $dim; text-style: none; }
DataTable > .datatable--even-row, DataTable > .datatable--odd-row, DataTable > .datatable--hover {
    background: $ground; color: $ink;
}
DataTable > .datatable--cursor { background: $ground; color: $ink; text-style: none; }
DataTable:focus > .datatable--cursor {
    color: $block-cursor-foreground; background: $block-cursor-background; text-style: $block-cursor-text-style;
}

#name { height: 3; padding: 0 3; color: $title; text-style: bold; }
#player { height: auto; padding: 0 3; }
#middle { height: auto; }
#left { width: 46; height: auto; }
#hint { height: 1; padding: 0 4; color: $dim; }
HomeMenu { height: auto; border: round $dim; margin: 0 1; }
HomeMenu:focus { border: round $title; }
#live { width: 1fr; height: 100%; padding: 0 1; border: round $dim; border-title-color: $title; margin-right: 1; }
#live.-nothing { border: none; }
#rooms { height: 1fr; border-top: solid $dim; border-title-color: $title; margin: 0 1; padding: 0 1; }
#no-server { height: auto; padding: 1 3; }
.-ascii HomeMenu, .-ascii HomeMenu:focus, .-ascii #live { border: ascii $dim; }
.-ascii #live.-nothing { border: none; }
.-ascii #head { border-bottom: ascii $dim; }
.-ascii #rule { border-top: ascii $dim; }
.-ascii #rooms { border-top: ascii $dim; }
.-narrow #live { display: none; }
.-narrow #left { width: 1fr; }
.-low #name { display: none; }
.-low HomeMenu, .-low HomeMenu:focus { border: none; height: 100%; margin: 0 2; }
.-low #hint { display: none; }
.-low #left { height: 100%; }
.-low.-among-rooms #middle { display: none; }
.-low.-among-rooms #rooms { height: 1fr; }
.-low #rooms { height: 1; border-top: none; margin: 0 2; padding: 0; }
.-low #middle { height: 1fr; }

Form { height: 1fr; padding: 1 3 0 3; }
Field { height: 1; width: 100%; }
Field .title { width: 20; }
Field .note { width: 1fr; color: $dim; padding-left: 1; }

Field Select, Field Input { width: 18; height: 1; background: $ground; color: $ink; padding: 0 1; }
Field Input:focus, Field Select:focus { background-tint: $ground 0%; }
Field Select SelectCurrent { background: $ground !important; color: $ink; }
Field Select:focus SelectCurrent Static#label {
    color: $block-cursor-foreground !important; background: $block-cursor-background !important;
    text-style: $block-cursor-text-style;
}
Field Select SelectCurrent Static#label { color: $ink; }
Field Select .arrow { color: $dim; }
Field SelectOverlay { border: round $dim !important; background: $ground; }
.-ascii SelectCurrent .arrow { display: none; }
.-ascii SelectOverlay { border: ascii $dim !important; }
.-narrow Field .note { display: none; }

Question { align: center middle; background: transparent; }
#question { width: 60; max-width: 100%; height: auto; border: round $title; padding: 0 1; background: $ground; }
#question Label { width: 100%; }
#question Input { background: $ground; color: $ink; border: none; height: 1; }
#question Foot { dock: none; padding: 0; margin-top: 1; }
Input > .input--cursor, Input > .input--selection {
    color: $block-cursor-foreground; background: $block-cursor-background; text-style: $block-cursor-text-style;
}
.-ascii #question { border: ascii $dim; }
"""
