internal import CCausewayLinux

/// Converts an encoding of the C library to UTF-8.
///
/// Only encodings that documents on the web use can be opened. Otherwise a document could select the conversion module
/// that the C library loads and runs.
@safe package final class EncodingConversion: CharacterConversion {
    private let handle: UnsafeMutableRawPointer
    private var rest: [UInt8] = []

    /// Opens a conversion, or returns `nil` if the encoding is not known.
    package init?(_ name: String) {
        guard let known = Self.names[name], let handle = unsafe causeway_text_open(known) else { return nil }
        unsafe self.handle = handle
    }

    deinit { unsafe causeway_text_close(handle) }

    package func convert(_ bytes: [UInt8], into text: inout [UInt8]) -> Int {
        let input = rest + bytes
        rest = []
        var malformed = 0
        var start = 0
        var buffer = [UInt8](repeating: 0, count: 4096)
        while start < input.count {
            var (read, written) = (0, 0)
            // Both pointers are used only during this call. They are valid for the byte counts that are passed with
            // them.
            let result = unsafe input[start...].withUnsafeBufferPointer { source in
                unsafe buffer.withUnsafeMutableBufferPointer { target in
                    unsafe causeway_text_convert(
                        handle, source.baseAddress, source.count, &read, target.baseAddress, target.count, &written)
                }
            }
            text += buffer[..<written]
            start += read
            switch UInt32(result) {
            case CAUSEWAY_TEXT_FULL.rawValue: continue
            case CAUSEWAY_TEXT_INCOMPLETE.rawValue where input.count - start < 8:
                rest = Array(input[start...])
                return malformed
            case CAUSEWAY_TEXT_DONE.rawValue: if read == 0 { return malformed }
            default:
                malformed += 1
                text += Array("\u{FFFD}".utf8)
                start += 1
            }
        }
        return malformed
    }

    /// Maps the encoding names in documents to the C library's names. Browsers treat some encodings as a larger
    /// encoding that contains them, for example GB 2312 as GB 18030. For these names, the table has the larger
    /// encoding.
    private static let names: [String: String] = {
        var names: [String: String] = [
            "gb2312": "GB18030", "gbk": "GB18030", "gb18030": "GB18030", "x-gbk": "GB18030", "big5": "BIG5",
            "big5-hkscs": "BIG5-HKSCS",
            "euc-jp": "EUC-JP", "x-euc-jp": "EUC-JP", "shift_jis": "CP932", "shift-jis": "CP932", "sjis": "CP932",
            "x-sjis": "CP932",
            "windows-31j": "CP932", "iso-2022-jp": "ISO-2022-JP", "euc-kr": "CP949", "ks_c_5601-1987": "CP949",
            "cp949": "CP949",
            "windows-949": "CP949", "koi8-r": "KOI8-R", "koi8-u": "KOI8-U", "tis-620": "CP874", "windows-874": "CP874",
            "macintosh": "MACINTOSH", "mac": "MACINTOSH", "x-mac-roman": "MACINTOSH", "ibm866": "CP866",
            "cp866": "CP866", "latin2": "ISO-8859-2", "ms_kanji": "CP932", "cn-big5": "BIG5", "ksc5601": "CP949",
            "ks_c_5601-1989": "CP949", "korean": "CP949", "koi8": "KOI8-R", "koi8-ru": "KOI8-U", "866": "CP866",
            "latin5": "CP1254", "greek": "ISO-8859-7", "hebrew": "ISO-8859-8", "iso-8859-8-i": "ISO-8859-8",
            "arabic": "ISO-8859-6", "cyrillic": "ISO-8859-5",
        ]
        for part in [2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16] { names["iso-8859-\(part)"] = "ISO-8859-\(part)" }
        names["iso-8859-9"] = "CP1254"
        names["iso-8859-11"] = "CP874"
        for page in 1250...1258 where page != 1252 {
            names["windows-\(page)"] = "CP\(page)"
            names["cp\(page)"] = "CP\(page)"
        }
        return names
    }()
}
