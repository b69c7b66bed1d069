extension PublicSuffixList {
    /// The most common public suffixes with several labels, for systems without the complete list. Suffixes with a
    /// single label need no rule.
    ///
    /// The selection was written by hand. It covers the second levels under which larger country registries register
    /// names, and a few hosting services. It contains no text of the Public Suffix List at https://publicsuffix.org
    /// (Mozilla Public License 2.0), and does not replace that list, which the package `publicsuffix` installs.
    package static let builtIn = PublicSuffixList(parsing: Array(builtInText.utf8))

    /// The rules in the list's text format.
    private static var builtInText: String {
        var lines = hosting.split(separator: " ").map(String.init)
        for row in registries.split(separator: "\n") {
            let words = row.split(separator: " ")
            guard let country = words.first else { continue }
            lines += words.dropFirst().map { "\($0).\(country)" }
        }
        lines += ["*.ck", "!www.ck", "*.sch.uk", "*.bd", "*.np", "*.mm", "*.kh", "*.er", "*.fk", "*.jm", "*.pg"]
        return lines.joined(separator: "\n")
    }

    /// Second-level domains under which names are registered. Each line begins with a country's domain. The names below
    /// this domain follow.
    private static let registries = """
        ac com edu gov net mil org
        ae co net org sch ac gov mil
        ar com edu gob gov int mil net org tur
        at co or ac gv
        au com net org edu gov asn id
        br com net org gov edu art blog eco eng ind inf jus leg med mil tv adv
        cn com net org gov edu ac mil bj sh gd zj
        co com net nom org edu gov mil
        cy com net org gov ac ltd
        do com net org edu gob gov mil web
        ec com net org edu gob gov fin med
        eg com net org edu gov sci mil
        es com nom org gob edu
        fj com net org ac gov
        fr com asso gouv nom prd tm
        gr com edu net org gov
        gt com edu gob ind mil net org
        hk com edu gov idv net org
        hu co info org
        id co ac go mil net or sch web my
        il co ac org net k12 gov muni idf
        in co firm net org gen ind ac edu res gov mil nic
        ir ac co gov id net org sch
        it gov edu
        jo com org net edu sch gov mil
        jp ac ad co ed go gr lg ne or
        ke co or ne go ac sc me mobi info
        kr ac co es go hs kg mil ms ne or pe re sc
        kw com edu emb gov ind net org
        lb com edu gov net org
        lk com org edu ngo soc web ltd gov net
        ly com net gov edu med org
        ma co net gov org ac press
        mx com org gob edu net
        my com net org gov edu mil name
        ng com edu gov net org mil name sch
        nz ac co cri geek gen govt health iwi maori mil net org parliament school
        om co com edu gov med museum net org pro
        pe edu gob nom mil org com net
        ph com net org gov edu ngo mil
        pk com net edu org fam biz web gov gob gok
        pl com net org edu gov aid agro atm auto biz info mail media miasta nieruchomosci shop waw
        pt net gov org edu int publ com nome
        py com coop edu gov mil net org
        qa com edu gov mil name net org sch
        ro com info nom nt org rec store tm www arts firm
        ru ac edu gov int mil
        sa com net org gov med pub edu sch
        sg com net org gov edu per
        sv com edu gob org red
        th ac co go in mi net or
        tn com ens fin gov ind info intl mincom nat net org perso tourism
        tr com info biz net org web gen tv av dr bbs name tel gov bel pol mil k12 edu kep
        tw edu gov mil com net org idv game ebiz club
        tz ac co go hotel info me mil mobi ne or sc tv
        ua com edu gov in net org kiev kharkov lviv odessa
        ug co or ac sc go ne com org
        uk ac co gov ltd me net nhs org plc police
        uy com edu gub mil net org
        ve com co edu gob gov info net org web
        vn com net org edu gov int ac biz info name pro health
        za ac agric alt co edu gov grondar law mil net ngo nic nis nom org school tm web
        zm ac biz co com edu gov info mil net org sch
        zw ac co gov mil org
        """

    /// Services whose customers own direct subdomains.
    private static let hosting = """
        github.io gitlab.io herokuapp.com blogspot.com appspot.com web.app firebaseapp.com netlify.app vercel.app pages.dev \
        workers.dev azurewebsites.net cloudfront.net s3.amazonaws.com myshopify.com wordpress.com fly.dev onrender.com
        """
}
