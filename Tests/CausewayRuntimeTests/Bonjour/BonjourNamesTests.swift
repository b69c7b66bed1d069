import CausewayRuntime
import Testing

@Suite("Renaming after conflicts")
struct BonjourNamesTests {
    @Test(
        "C106: a number is appended to a service's name and incremented",
        arguments: [
            ("Printer", "Printer (2)"), ("Printer (2)", "Printer (3)"), ("Printer (99)", "Printer (100)"),
            ("Printer (1)", "Printer (1) (2)"), ("Printer(2)", "Printer(2) (2)"), ("(2)", "(2) (2)"), ("", " (2)"),
            ("Room (b)", "Room (b) (2)"),
        ])
    func services(_ name: String, _ next: String) { #expect(BonjourNames.next(after: name) == next) }

    @Test(
        "C4 C106: a number is appended to a host's name and incremented",
        arguments: [
            ("mac", "mac-2"), ("mac-2", "mac-3"), ("mac-9", "mac-10"), ("mac-mini", "mac-mini-2"), ("-2", "-2-2"),
        ])
    func hosts(_ name: String, _ next: String) { #expect(BonjourNames.nextHost(after: name) == next) }

    @Test("A long name is shortened at a character boundary to fit a label")
    func long() {
        let name = String(repeating: "ä", count: 31)
        #expect(BonjourNames.next(after: name).utf8.count <= 63)
        #expect(BonjourNames.next(after: name) == String(repeating: "ä", count: 29) + " (2)")
    }
}
