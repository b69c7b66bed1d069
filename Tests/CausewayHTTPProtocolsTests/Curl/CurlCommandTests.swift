import CausewayWire
import Testing

@testable import CausewayHTTPProtocols

@Suite("Requests as command lines of curl")
struct CurlCommandTests {
    private func text(
        _ method: String = "GET", _ target: String = "https://a.example/x", _ fields: [(String, String)] = [],
        _ content: CurlCommand.Content = .none, secrets: Bool = false
    ) -> String {
        var section = FieldSection()
        for (name, value) in fields { section.append(name, value) }
        return CurlCommand(method: method, target: target, fields: section, content: content)
            .text(showsSecrets: secrets)
    }

    @Test("Methods")
    func methods() {
        #expect(text() == "curl https://a.example/x")
        #expect(text("HEAD") == "curl --head https://a.example/x")
        #expect(text("DELETE") == "curl -X DELETE https://a.example/x")
        #expect(text("POST") == "curl -X POST https://a.example/x")
        #expect(
            text("POST", content("a=1")) == "curl -H 'Content-Type:' --data-binary a=1 https://a.example/x")
        #expect(text("PUT", content("a")) == "curl -X PUT -H 'Content-Type:' --data-binary a https://a.example/x")
    }

    private func content(_ text: String) -> CurlCommand.Content { .bytes(Array(text.utf8)) }

    private func text(_ method: String, _ content: CurlCommand.Content) -> String {
        text(method, "https://a.example/x", [], content)
    }

    @Test("Words of the shell")
    func quoting() {
        #expect(text("GET", "https://a.example/?a=1&b='x'") == #"curl 'https://a.example/?a=1&b='\''x'\'''"#)
        #expect(text("GET", "https://a.example/[1]/../b") == "curl --globoff --path-as-is 'https://a.example/[1]/../b'")
        #expect(
            text("GET", "http://a/", [("Accept", "a, b"), ("Empty", "")])
                == "curl -H 'Accept: a, b' -H 'Empty;' http://a/")
        #expect(
            text("POST", content("a'b$c`d`"))
                == "curl -H 'Content-Type:' --data-binary 'a'\\''b$c`d`' https://a.example/x")
    }

    @Test("A combining mark after a special character changes nothing for the shell and for curl")
    func combiningMarks() {
        let mark = "\u{301}"
        func isEqual(_ text: String, _ expected: String) -> Bool { text.utf8.elementsEqual(expected.utf8) }
        #expect(
            isEqual(
                text("POST", content("a'\(mark); id #")),
                #"curl -H 'Content-Type:' --data-binary 'a'\''"# + mark + "; id #' https://a.example/x"))
        #expect(
            isEqual(
                text("GET", "http://a/", [("X", "'\(mark)$(id)'\(mark)")]),
                #"curl -H 'X: '\''"# + mark + #"$(id)'\''"# + mark + "' http://a/"))
        #expect(
            isEqual(
                text("POST", content("@\(mark)")),
                "curl -H 'Content-Type:' --data-raw '@\(mark)' https://a.example/x"))
        for target in ["http://a/[\(mark)1-9]\(mark)", "http://a/{\(mark)a,b}\(mark)"] {
            #expect(text("GET", target).utf8.starts(with: "curl --globoff '".utf8))
        }
        #expect(text("GET", "http://a/.\(mark)./b").utf8.starts(with: "curl --path-as-is '".utf8))
    }

    @Test("Values of a form are quoted")
    func formValues() {
        #expect(CurlCommand.formValue(#"a"b\c"#) == #""a\"b\\c""#)
        let value = CurlCommand.formValue("a\"\u{301},/etc/passwd")
        #expect(value.utf8.elementsEqual("\"a\\\"\u{301},/etc/passwd\"".utf8))
    }

    @Test("Credentials are hidden unless they are wanted")
    func secrets() {
        let fields = [("Authorization", "Bearer t"), ("cookie", "a=b")]
        #expect(text("GET", "http://a/", fields) == "curl -H 'Authorization: (hidden)' -H 'cookie: (hidden)' http://a/")
        #expect(
            text("GET", "http://a/", fields, secrets: true)
                == "curl -H 'Authorization: Bearer t' -H 'cookie: a=b' http://a/")
    }

    @Test("Content that is no text, a file and the standard input")
    func contents() {
        #expect(
            text("POST", .bytes([0, 0xFF, 0x61]))
                == #"printf '\000\377\141' | curl -H 'Content-Type:' --data-binary @- https://a.example/x"#)
        #expect(text("POST", content("a\n")).hasPrefix(#"printf '\141\012' | curl"#))
        #expect(text("POST", content("@a")) == "curl -H 'Content-Type:' --data-raw @a https://a.example/x")
        #expect(text("POST", .file("a b")) == "curl -H 'Content-Type:' --data-binary '@a b' https://a.example/x")
        #expect(text("POST", .standardInput) == "curl -H 'Content-Type:' --data-binary @- https://a.example/x")
    }
}
