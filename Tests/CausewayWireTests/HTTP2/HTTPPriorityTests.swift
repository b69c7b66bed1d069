import CausewayWire
import Testing

@Suite("Priority (RFC 9218 §4)")
struct HTTPPriorityTests {
    @Test(
        "The value of the field",
        arguments: [
            ("", 3, false), ("u=0", 0, false), ("i", 3, true), ("u=7, i", 7, true), ("i=?0, u=5", 5, false),
            ("i=?1", 3, true), ("u=8", 3, false), ("u=-1", 3, false), ("u=1.0", 3, false), ("u", 3, false),
            ("u=1;x=2,i;y", 1, true), ("x=1, u=2", 2, false), ("u=1, u=4", 4, false), (",,=,", 3, false),
        ])
    func parses(value: String, urgency: UInt8, isIncremental: Bool) {
        #expect(
            HTTPPriority(parsing: value.utf8) == HTTPPriority(urgency: urgency, isIncremental: isIncremental))
    }

    @Test("A priority is written as it was parsed", arguments: 0..<8)
    func writes(urgency: UInt8) {
        for isIncremental in [false, true] {
            let priority = HTTPPriority(urgency: urgency, isIncremental: isIncremental)
            #expect(HTTPPriority(parsing: priority.fieldValue.utf8) == priority)
        }
        #expect(HTTPPriority().fieldValue.isEmpty)
    }
}

@Suite("HTTP/2 settings (RFC 9113 §6.5.2)")
struct HTTP2SettingsTests {
    // RFC 9113 §6.5.1.
    @Test("The changes of settings, applied to the initial settings, give equal settings")
    func changes() throws {
        var settings = HTTP2Settings()
        (settings.headerTableSize, settings.enablesPush, settings.maxConcurrentStreams) = (0, false, 100)
        (settings.initialWindowSize, settings.maxFrameSize, settings.maxHeaderListSize) = (1 << 20, 1 << 15, 1 << 16)
        (settings.enablesConnectProtocol, settings.hasNoRFC7540Priorities) = (true, true)
        var applied = HTTP2Settings()
        let changes = settings.changes(from: applied)
        #expect(changes.count == 8)
        for setting in changes { try applied.apply(setting) }
        #expect(applied == settings)
        #expect(settings.changes(from: applied).isEmpty)
    }
}
