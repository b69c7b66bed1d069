// Shows a list of services with their TXT records that is updated after each change: swift run LiveBrowser _http._tcp
import Causeway
import Foundation

@main
enum LiveBrowser {
    static func main() {
        guard CommandLine.arguments.count <= 2 else {
            print("usage: LiveBrowser [TYPE]")
            exit(64)
        }
        let type = CommandLine.arguments.dropFirst().first ?? "_http._tcp"
        let browser = NWBrowser(for: .bonjourWithTXTRecord(type: type, domain: nil), using: NWParameters())
        browser.stateUpdateHandler = { state in
            guard case .failed(let error) = state else { return }
            print("cannot browse \(type): \(error)")
            exit(1)
        }
        // One call reports all changes since the last call, so a list on the screen is drawn once.
        browser.browseResultsChangedHandler = { results, changes in
            for case .removed(let result) in changes { print("gone: \(result.endpoint)") }
            print("\(results.count) services of type \(type):")
            for result in results {
                guard case .service(let name, _, _, _) = result.endpoint else { continue }
                var text = ""
                if case .bonjour(let record) = result.metadata { text = "\(record.dictionary)" }
                print("  \(name)  \(result.interfaces.map(\.name).joined(separator: " "))  \(text)")
            }
        }
        browser.start(queue: .main)
        dispatchMain()
    }
}
