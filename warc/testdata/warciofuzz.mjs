// Reads a line of base64 with a WARC file, and prints a line of JSON with the
// records that warcio finds and the same records as warcio writes them.
import { createHash } from "node:crypto";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { WARCParser, WARCRecord, WARCSerializer } = await import(pathToFileURL(process.argv[2]));

for await (const line of createInterface({ input: process.stdin })) {
	const records = [];
	const written = [];
	const file = Buffer.from(line, "base64");
	const gzip = file[0] != 0x1f; // so that both forms are read and written
	const parser = new WARCParser([file], { keepHeadersCase: true, parseHttp: false });
	for await (const record of parser) {
		const block = await record.readFully(false);
		records.push({
			type: record.warcType,
			url: record.warcTargetURI ?? "",
			id: record.warcHeader("WARC-Record-ID"),
			media: record.warcContentType ?? "",
			block: createHash("sha1").update(block).digest("hex"),
		});
		const copy = WARCRecord.create({
			url: record.warcTargetURI, date: record.warcDate, type: record.warcType, warcVersion: "WARC/1.1",
			warcHeaders: { "WARC-Record-ID": record.warcHeader("WARC-Record-ID"), "Content-Type": record.warcContentType },
		}, [block]);
		written.push(Buffer.from(await WARCSerializer.serialize(copy, { gzip })));
	}
	console.log(JSON.stringify({ records, written: Buffer.concat(written).toString("base64") }));
}
