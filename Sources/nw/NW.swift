import ArgumentParser
import CausewayTypes

/// The tool's root command.
struct NW: AsyncParsableCommand {
    static let name = "nw"
    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "Connect, serve, discover, capture and diagnose on the network.",
        discussion: """
            Examples:
              nw demo                                self-test in one process
              nw cat example.com 80                  talk to a server
              nw cat -l 9000 > copy                  store the data of a client
              nw cat --tls example.com 443           talk to a server over TLS
              nw cat wss://example.com/chat          exchange WebSocket messages
              nw chat -l 9000                        exchange lines with a peer
              nw serve echo --port 7000              run an echo server
              nw echo 127.0.0.1 7000                 measure its round-trip time
              nw receive inbox --port 9100           store received files in inbox
              nw send a.txt b.jpg host 9100          send two files
              nw send a.txt --peer Ann               send to a peer nearby
              nw group 239.7.7.7 7777                join a multicast group
              nw http POST :8080/users name=Ann      send an HTTP request
              nw transfers run                       continue background transfers
              nw download https://example.com/a.iso  download files
              nw upload a.jpg http://host/photos     upload files
              nw feed https://example.com/rss        list the items of a feed
              nw search jimmy buffett                search for albums
              nw image https://example.com/a.jpg     show an image
              nw interfaces --json                   list addresses, DNS servers
              nw path --watch                        follow the network path
              nw status example.com 443 --connect    follow a connection
              nw browse                              list services
              nw lookup Page._http._tcp.local        resolve a service
              nw register Page _http._tcp 8080       advertise a service
              nw types                               list the types of services
              nw query printer.local A               query by multicast DNS
              nw peers abc-chat                      list peers of a service
              nw peers pair nw-files                 exchange keys with a peer
              nw peers doctor abc-chat               check why no peer is seen
              nw bridge eth0 eth1 -t _http._tcp      bridge services of two links
              nw linklocal eth0                      set a link-local address
              nw doctor                              check whether Bonjour works
              nw capture -i eth0 tcp port 80         show packets
              nw read trace.pcap                     show the packets of a file
              nw filter 'udp port 53'                explain a packet filter
              nw packet udp 192.0.2.1:53             build a packet
              nw ping example.com                    measure round-trip times
              nw trace example.com                   list the routers to a host
              nw scan 192.0.2.1                      find open ports
              nw resolve example.com                 resolve a name
              nw connect example.com 443 --timeline  show the connection steps
              nw proxy https://example.com           show which proxy applies
              nw nat64 ./program                     run without IPv4
              nw byteorder 8080                      show the bytes of a number
              nw tls example.com                     check a server's certificates
              nw cert www.test                       make certificates for tests

            Short options can be combined, and a value can follow its option directly: nw ping -qc3 example.com. nw \
            --generate-completion-script bash (zsh, fish) prints completions.

            Exit codes:
              0         success
              1         failure; standard error has one line with the reason
              2         nw tls: no TLS connection could be made
              6 to 63   nw http, download and upload: the codes of curl
              64        usage error
              130, 143  ended by SIGINT or SIGTERM before the work was complete
            """,
        version: "nw \(version)",
        subcommands: commands)

    /// The tool's version. There is no release yet.
    static let version = "0.1.0-dev"

    /// Throws if the first word is not a command. The error suggests the command with the most similar name.
    static func checkName(in arguments: [String]) throws {
        let word = arguments.first == "help" ? arguments.dropFirst().first : arguments.first
        let names = commands.compactMap { $0.outline.commandName }
        guard let word, !word.hasPrefix("-"), word != "help", !names.contains(word) else { return }
        let hint = CommandNames.closest(to: word, among: names).map { " Did you mean '\($0)'?" } ?? ""
        throw ValidationError(
            "'\(PrintableText(foreign: word).text)' is not a command of nw.\(hint) List the commands with: nw --help")
    }

    static let commands: [any Subcommand.Type] = [
        BridgeCommand.self, BrowseCommand.self, ByteOrderCommand.self, CaptureCommand.self, CatCommand.self,
        CertCommand.self, ChatCommand.self, ConnectCommand.self, DemoCommand.self, DoctorCommand.self,
        DownloadCommand.self,
        EchoCommand.self, FeedCommand.self, FilterCommand.self, GroupCommand.self, HTTPCommand.self,
        ImageCommand.self, InterfacesCommand.self, LinkLocalCommand.self, LookupCommand.self,
        NAT64Command.self, PacketCommand.self, PathCommand.self, PeersCommand.self, PingCommand.self, ProxyCommand.self,
        QueryCommand.self, ReadCommand.self, ReceiveCommand.self, RegisterCommand.self, ResolveCommand.self,
        ScanCommand.self, SearchCommand.self, SendCommand.self, ServeCommand.self, StatusCommand.self,
        TLSCommand.self, TraceCommand.self, TransfersCommand.self, TypesCommand.self, UploadCommand.self,
    ]

    /// The `nw serve` commands that have options of their own.
    static let serveCommands: [any ServerSubcommand.Type] = [ServeHTTPCommand.self, ServeUploadCommand.self]
}
