#!/usr/bin/env python3
"""Fills the English plural forms of tidemark_en.ts: "%n broker(s)" gives "%n broker" and "%n brokers".

Run after lupdate (target tidemark_widgets_lupdate). Forms that are there already stay.
"""
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

path = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).with_name("tidemark_en.ts"))
tree = ET.parse(path)
filled = 0
for message in tree.iter("message"):
    if message.get("numerus") != "yes":
        continue
    source = message.findtext("source")
    translation = message.find("translation")
    forms = translation.findall("numerusform")
    while len(forms) < 2:
        forms.append(ET.SubElement(translation, "numerusform"))
    translation.attrib.pop("type", None)
    if all(form.text for form in forms):
        continue
    forms[0].text = re.sub(r"\((s|es)\)", "", source)
    forms[1].text = re.sub(r"\((s|es)\)", r"\1", source)
    filled += 1
text = ET.tostring(tree.getroot(), encoding="unicode")
path.write_text('<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n' + text + "\n", encoding="utf-8")
print(f"{filled} plurals filled in {path}")
