import Causeway
import CausewayTypes
import Synchronization

/// Prints the results of `nw browse`: a line or JSON object for each event, or a table that is updated in place on a terminal.
final class BrowseDisplay: Sendable {
    private struct State {
        var services: [NWEndpoint: FoundService] = [:]
        var lines = LiveLines()
        var hasFound = false
    }

    private let isJSON: Bool
    private let isLive: Bool
    private let title: PrintableText
    private let showsPlaces: Bool
    private let state = Mutex(State())

    init(isJSON: Bool, isLive: Bool, title: PrintableText, showsPlaces: Bool) {
        self.isJSON = isJSON
        self.isLive = isLive
        self.title = title
        self.showsPlaces = showsPlaces
        if isLive { draw() }
    }

    /// Whether any service has been found.
    var hasFound: Bool { state.withLock { $0.hasFound } }

    func show(_ update: BrowseSession.Update) {
        switch update {
        case .changes(let changes):
            let events = changes.compactMap { Self.event($0) }.sorted { $0.service.name < $1.service.name }
            for event in events { note(event) }
            if !isLive { for event in events { printLine(line(event)) } }
        case .placed(let service):
            state.withLock { $0.services[service.endpoint]?.place = service.place }
            if !isLive {
                printLine(isJSON ? PrintableText(json: service.object(event: "resolved")) : Self.placeLine(service))
            }
        }
        if isLive { draw() }
    }

    // MARK: Events

    private struct Event {
        var mark: PrintableText
        var name: String
        var style: PrintableText.Style
        var service: FoundService
    }

    private static func event(_ change: NWBrowser.Result.Change) -> Event? {
        switch change {
        case .added(let result):
            FoundService(result).map { Event(mark: "+", name: "added", style: .added, service: $0) }
        case .removed(let result):
            FoundService(result).map { Event(mark: "-", name: "removed", style: .removed, service: $0) }
        case .changed(_, let result, _):
            FoundService(result).map { Event(mark: "~", name: "changed", style: .changed, service: $0) }
        case .identical: nil
        }
    }

    private func note(_ event: Event) {
        state.withLock { state in
            state.hasFound = true
            var service = event.service
            service.place = state.services[service.endpoint]?.place
            state.services[service.endpoint] = event.name == "removed" ? nil : service
        }
    }

    private func line(_ event: Event) -> PrintableText {
        let service = event.service
        guard !isJSON else { return PrintableText(json: service.object(event: event.name)) }
        let entries = service.entries.map { PrintableText(foreign: " " + $0) }.joined()
        return "\(event.mark) \(service.name)  \(service.type) \(service.domain)\(service.links)\(entries)"
    }

    private static func placeLine(_ service: FoundService) -> PrintableText {
        let addresses = service.addresses.joined(separator: " ")
        return
            "= \(service.name)  \(service.type) \(service.domain) \(service.host ?? "?") port \(service.place?.port ?? 0) \(addresses)"
    }

    // MARK: Table

    private func draw() {
        state.withLock { state in
            let services = state.services.values.sorted { ($0.type, $0.name) < ($1.type, $1.name) }
            let count = services.count
            let heading = title + ": \(count) service\(count == 1 ? "" : "s"); press Ctrl-C to stop"
            state.lines.draw([heading.styled(.faint)] + rows(services))
        }
    }

    private func rows(_ services: [FoundService]) -> [PrintableText] {
        guard !services.isEmpty else { return [] }
        var table: [[PrintableText]] = [
            ["NAME", "TYPE", "INTERFACE"] + (showsPlaces ? ["HOST:PORT", "ADDRESSES", "TXT"] : [])
        ]
        for service in services {
            var row: [PrintableText] = ["\(service.name)", "\(service.type)", "\(Self.origin(of: service))"]
            if showsPlaces {
                row += [
                    service.host.map { "\($0):\(service.place?.port ?? 0)" } ?? "-",
                    "\(service.addresses.joined(separator: " "))", "\(service.entries.joined(separator: " "))",
                ]
            }
            table.append(row)
        }
        return Self.lines(of: table).enumerated().map { index, line in index == 0 ? line.styled(.heading) : line }
    }

    /// Returns a table's rows as lines, with cells padded so that the columns are aligned on the terminal.
    static func lines(of table: [[PrintableText]]) -> [PrintableText] {
        let widths = (0..<(table.first?.count ?? 0)).map { column in
            min(48, table.map { $0[column].text.columnCount }.max() ?? 0)
        }
        return table.map { row in
            zip(row, widths).map { cell, width in
                cell + PrintableText(foreign: String(repeating: " ", count: max(0, width - cell.text.columnCount)))
            }.joined(separator: "  ")
        }
    }

    private static func origin(of service: FoundService) -> String {
        service.interfaces.isEmpty ? service.domain : service.interfaces.joined(separator: " ")
    }
}
