package failure

// moreMeanings are the commonest words of errors in eight languages more, as meanings has them:
// a line for each of Dutch, Polish, Turkish, Scandinavian (Danish, Norwegian and Swedish in
// one), Ukrainian, Vietnamese and Indonesian.
func moreMeanings() map[concept]string {
	return map[concept]string{
		ofMoney:  `abonnement*, punkty, punktów, puan*, bakiyeniz*, tegoed*, betaling*, krediet*, środki, środków, kredyt*, płatnoś*, subskrypcj*, bakiye*, kredi*, ödeme*, abonelik*, betaling*, abonnemang*, кошт*, підписк*, số dư, tín dụng, thanh toán, pembayaran`,
		ofQuota:  `quotum, gebruikslimiet*, verbruik*, przydział*, kota*, kullanım sınır*, kullanım limit*, kvot*, forbrug*, förbruk*, ліміт*, hạn mức, hạn ngạch, kuota`,
		ofRate:   `te vaak, zbyt liczne, zbyt często, çok sık, isteğ* çok, yêu cầu của bạn quá, for ofte, för ofta, terlalu sering, verzoeken, aanvragen, aanvraaglimiet, żądań, zapytań, istek*, hız sınır*, förfrågningar, forespørgsler, forespørsler, anmodninger, запитів, quá nhiều yêu, banyak permintaan`,
		ofLogin:  `authenticatie*, *authenticatie, niet ingelogd, uwierzytelnien*, bilgilerinizi, thông tin xác, sleutel*, aanmelden, inlog*, ingelogd, wachtwoord, klucz*, uwierzyteln*, logowani*, zalog*, hasło, anahtar*, kimlik doğrulama, oturum*, giriş, şifre*, nyckel*, nøgle*, nøkkel*, inlogg*, autentiser*, adgangskode, lösenord, автентифікац*, увійдіть, парол*, khóa api, khoá api, xác thực, đăng nhập, mật khẩu, kunci api, kunci, autentikasi`,
		ofModel:  `modele, modelu, modeli, modelin, mô hình`,
		ofServer: `bandbreedte, servis*, sunucular*, serwera, nhà cung cấp, server tidak, aanbieder*, serwer*, usług*, dostawc*, sunucu*, hizmet*, sağlayıcı*, tjänst*, tjeneste*, leverandør*, leverantör*, послуг*, провайдер*, máy chủ, hệ thống, dịch vụ, layanan, peladen`,
		ofPermission: `toegang*, toestemming, machtiging*, uprawnie*, dostęp, dostępu, izin*, yetki*, erişim*, behörig*, tilladelse*, tillatelse*, åtkomst*, adgang,
		дозвол*, quyền, quyền truy cập, akses`,
		ofContext: `de lengte, lengte die, długoś*, uzunluğ*, độ dài, längden, længden, lengden, panjang, gesprek*, invoer, kontekst*, rozmow*, bağlam*, konuşma*, samtale*, samtal, розмов*, ngữ cảnh, percakapan`,
		ofText:    `nội dung, metin*, bericht, tekst, wiadomoś*, mesaj*, meddelande*, besked*, melding*, повідомленн*, tin nhắn, pesan`,
		ofRequest: `aanroep, żądania, żądaniu, zapytania, talep*, verzoek, aanvraag, żądanie, zapytanie, isteğ*, förfrågan, anmodning*, forespørgsel*, forespørsel*, запит, yêu cầu, permintaan`,
		ofNetwork: `bağlan*, połącz*, terhubung, menghubung*, ansluta, forbinde, verbinding*, netwerk*, połączeni*, sieć, sieci, bağlantı*, anslutning*, forbindelse*, tilkobling*, nätverk*, netværk*, nettverk*, зєднанн*, підключенн*, мереж*, kết nối, mạng, koneksi, jaringan`,
		ofAnswer:  `geen afbeeldingen, żadnego obrazu, görsel üretmedi, bất kỳ hình, trả về trống, yanıtı, antwoord*, odpowiedź, odpowiedzi, yanıt*, cevap*, svar, svaret, відповід*, phản hồi, trả lời, respons, jawaban`,

		ofContent:   `inhoud, veiligheid*, auteursrecht*, treść, treści, zawartość*, bezpieczeństw*, içerik*, içeriğ*, güvenlik, telif hakkı, an toàn, chính sách, bản quyền, konten, keamanan, kebijakan, innehåll, indhold, innhold, säkerhet*, sikkerhed*, вміст*, безпек*`,
		ofConfig:    `*configuratie, configuratie*, instelling*, konfiguracj*, ustawien*, yapılandırma*, ayarlar*, ayarları*, cấu hình, konfigurasi, pengaturan, inställning*, indstilling*, innstilling*, налаштуван*, конфігурац*`,
		ofPlace:     `uw locatie, uw regio, uw land, juridische redenen, twoja lokalizacja, twój region, twoim kraju, twoim regionie, powodów prawnych, bulunduğunuz bölge*, bulunduğunuz konum*, ülkeniz*, bölgeniz*, yasal neden*, khu vực của, vị trí của, quốc gia của, lý do pháp, lokasi anda, wilayah anda, negara anda, din region, ditt land, dit land, ваш регіон, вашій країні`,
		ofPage:      `pagina, bron, strony, stronę, zasob*, sayfa*, kaynak, kaynağ*, tài nguyên, halaman, sumber daya, sida, side, сторінк*, ресурс`,
		ofUpgrade:   `betaald plan, hoger plan, płatn*, wyższego planu, ücretli plan*, ücretli bir, daha yüksek, trả phí, gói cao, paket berbayar, betald plan, betalt plan, платн*`,
		ofImage:     `mediaformaat, media indeling, format* medi*, medya format*, biçimi medya, định dạng phương, format media`,
		ofData:      `parseren, parsowani*, analizy bloku, ayrıştırma, çözümleme, phân tích khối, parsing`,
		isMalformed: `begrijpt, nie rozumie, anlamad*, anlaşılma*, không hiểu, không thể hiểu, tidak memahami, tidak mengerti, förstår inte, forstår ikke, не розуміє`,

		isLacking: `geen, brak, ingen, inget, yok, chưa, onvoldoende, ontbreekt, ontbrekend*, vereist, verlopen, brak*, niewystarczając*, wygasł*, wymagan*, za mało, yetersiz*, eksik*, gerekli*, süresi dol*,
		otillräcklig*, utilstrækkelig*, utilstrekkelig*, saknas, mangler, krävs, kræves, kreves, udløbet, utløpt, недостатньо, відсутн*, закінчи*, вичерпан*, потрібн*, немає,
		không đủ, thiếu, hết hạn, hết, tidak cukup, habis, kedaluwarsa, diperlukan`,
		isExceeded: `overschrijd*, is op, zijn op, przekracz*, osiągnę*, tüken*, aşıyor, te vaak, zbyt liczne, zbyt często, çok sık, isteğ* çok, yêu cầu của bạn quá, for ofte, för ofta, terlalu sering, đã đạt, ulaştı*, aştın*, đạt giới hạn, mencapai, overschreden, bereikt, te veel, przekrocz*, osiągnięt*, zbyt wiele, zbyt dużo, aşıl*, aştı*, çok fazla, ulaşıl*, överskrid*, overskred*, nådd, nået, för många, for mange,
		перевищен*, досягнут*, забагато, занадто багато, vượt quá, quá nhiều, đã đạt, melebihi, terlampaui, terlalu banyak, tercapai`,
		isLong: `te lang, te groot, zbyt dług*, za dług*, zbyt duż*, çok uzun, çok büyük, för lång*, for lang*, for stor*, för stor*, задовг*, занадто довг*, занадто велик*, quá dài, quá lớn, terlalu panjang, terlalu besar`,
		isGone: `niet vinden, nie może odnaleźć, nie może znaleźć, bulamı*, bulamad*, không tìm, tidak menemukan, kan ikke finde, kan ikke finne, kan inte hitta, niet gevonden, bestaat niet, niet beschikbaar, onbekend*, nie znaleziono, nie istnieje, niedostępn*, nieznan*, bulunamadı*, mevcut değil, kullanılamıyor*, bilinmeyen,
		hittades inte, hittas inte, ikke fundet, ikke funnet, finns inte, findes ikke, finnes ikke, inte tillgänglig*, ikke tilgængelig*, ikke tilgjengelig*, okänd*, ukendt*, ukjent*,
		не знайден*, не існує, невідом*, không tìm thấy, không tồn tại, không khả dụng, tidak ditemukan, tidak tersedia`,
		isDenied: `weiger*, odmawia, odrzucił, reddet*, pháp lý từ, menolak, geweigerd*, verboden, niet toegestaan, odmow*, odrzucon*, zabronion*, reddedil*, yasak*, izin verilm*, nekad*, nægtet, nektet, avvisad*, afvist, avvist,
		заборонен*, відмов*, відхилен*, từ chối, không được phép, không có quyền, ditolak, tidak diizinkan, dilarang`,
		isBlocked:     `geblokkeerd*, zablokowan*, engellen*, blockera*, blokeret, blokkert, заблоков*, bị chặn, diblokir`,
		isWrong:       `không chính xác, niet correct, nie jest poprawn*, doğru değil, tidak benar, salah, ongeldig*, onjuist*, nieprawidłow*, niepoprawn*, błędn*, geçersiz*, yanlış*, hatalı*, ogiltig*, ugyldig*, felaktig*, forkert*, недійсн*, невірн*, không hợp lệ, không đúng, tidak valid`,
		isUnsupported: `ondersteunt de, ondersteunt deze, desteklem*, nie wspiera, stödjer inte, mendukung, niet ondersteund*, ondersteunt niet, nie obsług*, nieobsługiwan*, desteklenm*, stöds inte, understøttes ikke, støttes ikke, не підтриму*, không hỗ trợ, tidak didukung`,
		isUnset:       `yapılandırılma*, ayarlanma*, ayarlanmad*, eklenmemiş, nie podano, nie ustawiono*, niet opgegeven, chưa được thiết, belum diatur, inte angett, ikke angivet, chưa được cấu, chưa cấu hình, chưa thiết lập, tanımlı değil, ayarlı değil, ayarlanmamış, yapılandırılmamış, niet ingesteld, niet geconfigureerd, nie skonfigurowano, nie ustawiono, inte konfigurerad, ikke konfigureret, ikke konfigurert, не налаштован*, belum dikonfigurasi`,
		isFailed: `niet verwerken, onverwacht probleem, moeilijkheden, nie może, trudnoś*, problem*, napotkał*, zorluk*, işleyemiyor, khó khăn, không thành, sự cố, masalah, kendala, *amadı, *emedi, *amıyor, *emiyor, kan geen, kunde ikke, tidak bisa, mislukt*, fout, fouten, kon niet, kan niet, błąd, błędu, błędy, nie udało, nie powiod*, nie można, hata, hatası*, başarısız*, misslyck*, mislykke*, fejl*, feil, kunne ikke, kunde inte,
		помилк*, не вдалос*, збій, lỗi, thất bại, không thể, gagal, kesalahan, tidak dapat`,
		isBroken:  `niet ontvangen, antwoord ontvangen, nie otrzymał*, không nhận được, alamadı, verbroken, onderbroken, afgebroken, gesloten, przerwan*, zamknięt*, zerwan*, kesildi, kapandı, kapatıldı, avbröts, afbrudt, avbrutt, stängd*, lukket, перерван*, розірван*, bị ngắt, gián đoạn, terputus, ditutup`,
		isBusy:    `overbelast*, przeciąż*, zajęt*, aşırı yük*, meşgul*, yoğun*, överbelast*, optaget, upptagen, перевантажен*, зайнят*, quá tải, đang bận, sibuk, kelebihan beban`,
		isLate:    `time out, tijdig, na czas, zamanında, kịp thời, duurde te lang, tijdslimiet*, limit czasu, przekroczono czas, upłynął czas, zaman aşımı*, süre aşımı, tidsudløb, tidsgräns*, tidsavbrudd, tidsfrist*, час очікування, перевищено час, hết thời gian, quá thời gian, waktu habis, batas waktu`,
		isEmpty:   `geen afbeeldingen, żadnego obrazu, görsel üretmedi, không tạo ra, bất kỳ hình, để trống, trả về trống, geen inhoud, brak treści, không có nội, không nhận được, geen antwoord, brak odpowiedzi, intet svar, inget svar, ingen svar, yanıt yok, tidak ada respons, leeg, lege, pust*, boş, tomt svar, порожн*, trống, rỗng, kosong`,
		isPassing: `straks, chwilowo, birazdan, lát nữa, opnieuw, tijdelijk*, później, ponownie, tymczasow*, sonra, tekrar, geçici*, senare, senere, igen, midlertidig*, tillfällig*, пізніше, тимчасов*, thử lại, tạm thời, nanti, sementara, coba lagi`,
		isAsked:   `upgrade, moet, uaktualni*, zaktualizow*, przejdź, proszę, geçin, yükselt*, nâng cấp, tingkatkan, gerekiyor, gerekmekted*, uppgradera, opgrader, cung cấp, girin, wprowadź, podaj, voer, masukkan, giriş yapın, moet, musisz, måste, probeer, controleer, spróbuj, sprawdź, zaloguj, deneyin, lütfen, försök, prøv, kontroller*, спробуйте, vui lòng`,
		perDay: `dagelijks*, maandelijks*, wekelijks*, vandaag, morgen, dzienn*, miesięczn*, tygodniow*, dzisiaj, dziś, jutro, günlük*, aylık*, haftalık*, bugün*, yarın, daglig*, dagens, månad*, måned*, i dag, idag, i morgon, i morgen,
		денн*, добов*, щоденн*, місячн*, сьогодні, завтра, hàng ngày, hằng ngày, mỗi ngày, hôm nay, hàng tháng, ngày mai, harian, bulanan, hari ini, besok`,
		aLimit:     `limiet*, *limiet, sınır*, limitin*, gräns*, *gräns, grænse*, giới hạn, batas, ліміт*, обмежен*`,
		isViolated: `gevoelige, verboden woorden, verboden inhoud, wrażliw*, poufn*, zabronion*, yasaklı, hassas, nhạy cảm, bị cấm, känslig*, følsom*, sensitif, schendt, schending*, narusz*, ihlal*, bryter mot, strider mod, overtræd*, порушен*, порушу*, vi phạm, melanggar`,
	}
}
