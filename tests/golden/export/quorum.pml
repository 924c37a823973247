/* quorum, check n3_w2_r2; Node = 3; Term = 2; Offset = 1; write_quorum = 2; read_quorum = 2 */

unsigned term : 2 = 0;
unsigned log_node1_len : 1 = 0;
unsigned log_node1_0 : 2 = 0;
unsigned log_node2_len : 1 = 0;
unsigned log_node2_0 : 2 = 0;
unsigned log_node3_len : 1 = 0;
unsigned log_node3_0 : 2 = 0;
unsigned promised_node1 : 2 = 0;
unsigned promised_node2 : 2 = 0;
unsigned promised_node3 : 2 = 0;
bit up_node1 = 1;
bit up_node2 = 1;
bit up_node3 = 1;
bit leads_node1 = 0;
bit leads_node2 = 0;
bit leads_node3 = 0;
unsigned hw_node1 : 1 = 0;
unsigned hw_node2 : 1 = 0;
unsigned hw_node3 : 1 = 0;
unsigned committed_len : 1 = 0;
unsigned committed_0 : 2 = 0;

#define HOLDS_committed_survives ((!(leads_node1 && (promised_node1 == term)) || ((committed_len <= log_node1_len) && ((committed_len <= 0) || (log_node1_0 == committed_0)))) && (!(leads_node2 && (promised_node2 == term)) || ((committed_len <= log_node2_len) && ((committed_len <= 0) || (log_node2_0 == committed_0)))) && (!(leads_node3 && (promised_node3 == term)) || ((committed_len <= log_node3_len) && ((committed_len <= 0) || (log_node3_0 == committed_0)))))
#define HOLDS_electable ((up_node1 && up_node2 && !((((log_node1_len == 0) -> 0 : log_node1_0) < ((log_node2_len == 0) -> 0 : log_node2_0)) || ((((log_node1_len == 0) -> 0 : log_node1_0) == ((log_node2_len == 0) -> 0 : log_node2_0)) && (log_node1_len < log_node2_len)))) || (up_node1 && up_node2 && !((((log_node2_len == 0) -> 0 : log_node2_0) < ((log_node1_len == 0) -> 0 : log_node1_0)) || ((((log_node2_len == 0) -> 0 : log_node2_0) == ((log_node1_len == 0) -> 0 : log_node1_0)) && (log_node2_len < log_node1_len)))) || (up_node1 && up_node3 && !((((log_node1_len == 0) -> 0 : log_node1_0) < ((log_node3_len == 0) -> 0 : log_node3_0)) || ((((log_node1_len == 0) -> 0 : log_node1_0) == ((log_node3_len == 0) -> 0 : log_node3_0)) && (log_node1_len < log_node3_len)))) || (up_node1 && up_node3 && !((((log_node3_len == 0) -> 0 : log_node3_0) < ((log_node1_len == 0) -> 0 : log_node1_0)) || ((((log_node3_len == 0) -> 0 : log_node3_0) == ((log_node1_len == 0) -> 0 : log_node1_0)) && (log_node3_len < log_node1_len)))) || (up_node2 && up_node3 && !((((log_node2_len == 0) -> 0 : log_node2_0) < ((log_node3_len == 0) -> 0 : log_node3_0)) || ((((log_node2_len == 0) -> 0 : log_node2_0) == ((log_node3_len == 0) -> 0 : log_node3_0)) && (log_node2_len < log_node3_len)))) || (up_node2 && up_node3 && !((((log_node3_len == 0) -> 0 : log_node3_0) < ((log_node2_len == 0) -> 0 : log_node2_0)) || ((((log_node3_len == 0) -> 0 : log_node3_0) == ((log_node2_len == 0) -> 0 : log_node2_0)) && (log_node3_len < log_node2_len)))))

active proctype steps() {
end: do
  /* elect({node1, node2}, node1) */
  :: d_step { up_node1 && up_node2 && !((((log_node1_len == 0) -> 0 : log_node1_0) < ((log_node2_len == 0) -> 0 : log_node2_0)) || ((((log_node1_len == 0) -> 0 : log_node1_0) == ((log_node2_len == 0) -> 0 : log_node2_0)) && (log_node1_len < log_node2_len))) && !((up_node1 && up_node2 && !((((log_node1_len == 0) -> 0 : log_node1_0) < ((log_node2_len == 0) -> 0 : log_node2_0)) || ((((log_node1_len == 0) -> 0 : log_node1_0) == ((log_node2_len == 0) -> 0 : log_node2_0)) && (log_node1_len < log_node2_len))) && (2 < (term + 1))) || (up_node1 && up_node2 && !((((log_node1_len == 0) -> 0 : log_node1_0) < ((log_node2_len == 0) -> 0 : log_node2_0)) || ((((log_node1_len == 0) -> 0 : log_node1_0) == ((log_node2_len == 0) -> 0 : log_node2_0)) && (log_node1_len < log_node2_len))) && !(up_node1 && up_node2 && !((((log_node1_len == 0) -> 0 : log_node1_0) < ((log_node2_len == 0) -> 0 : log_node2_0)) || ((((log_node1_len == 0) -> 0 : log_node1_0) == ((log_node2_len == 0) -> 0 : log_node2_0)) && (log_node1_len < log_node2_len))) && (2 < (term + 1))) && (2 < (term + 1))) || (up_node1 && up_node2 && !((((log_node1_len == 0) -> 0 : log_node1_0) < ((log_node2_len == 0) -> 0 : log_node2_0)) || ((((log_node1_len == 0) -> 0 : log_node1_0) == ((log_node2_len == 0) -> 0 : log_node2_0)) && (log_node1_len < log_node2_len))) && !((up_node1 && up_node2 && !((((log_node1_len == 0) -> 0 : log_node1_0) < ((log_node2_len == 0) -> 0 : log_node2_0)) || ((((log_node1_len == 0) -> 0 : log_node1_0) == ((log_node2_len == 0) -> 0 : log_node2_0)) && (log_node1_len < log_node2_len))) && (2 < (term + 1))) || (up_node1 && up_node2 && !((((log_node1_len == 0) -> 0 : log_node1_0) < ((log_node2_len == 0) -> 0 : log_node2_0)) || ((((log_node1_len == 0) -> 0 : log_node1_0) == ((log_node2_len == 0) -> 0 : log_node2_0)) && (log_node1_len < log_node2_len))) && !(up_node1 && up_node2 && !((((log_node1_len == 0) -> 0 : log_node1_0) < ((log_node2_len == 0) -> 0 : log_node2_0)) || ((((log_node1_len == 0) -> 0 : log_node1_0) == ((log_node2_len == 0) -> 0 : log_node2_0)) && (log_node1_len < log_node2_len))) && (2 < (term + 1))) && (2 < (term + 1)))) && (2 < (term + 1)))) ->
       promised_node1 = term + 1;
       promised_node2 = term + 1;
       term = term + 1;
       leads_node1 = true;
       leads_node2 = false;
       hw_node1 = 0;
       hw_node2 = 0;
       assert(HOLDS_committed_survives);
       assert(HOLDS_electable);
     }
  /* elect({node1, node2}, node2) */
  :: d_step { up_node1 && up_node2 && !((((log_node2_len == 0) -> 0 : log_node2_0) < ((log_node1_len == 0) -> 0 : log_node1_0)) || ((((log_node2_len == 0) -> 0 : log_node2_0) == ((log_node1_len == 0) -> 0 : log_node1_0)) && (log_node2_len < log_node1_len))) && !((up_node1 && up_node2 && !((((log_node2_len == 0) -> 0 : log_node2_0) < ((log_node1_len == 0) -> 0 : log_node1_0)) || ((((log_node2_len == 0) -> 0 : log_node2_0) == ((log_node1_len == 0) -> 0 : log_node1_0)) && (log_node2_len < log_node1_len))) && (2 < (term + 1))) || (up_node1 && up_node2 && !((((log_node2_len == 0) -> 0 : log_node2_0) < ((log_node1_len == 0) -> 0 : log_node1_0)) || ((((log_node2_len == 0) -> 0 : log_node2_0) == ((log_node1_len == 0) -> 0 : log_node1_0)) && (log_node2_len < log_node1_len))) && !(up_node1 && up_node2 && !((((log_node2_len == 0) -> 0 : log_node2_0) < ((log_node1_len == 0) -> 0 : log_node1_0)) || ((((log_node2_len == 0) -> 0 : log_node2_0) == ((log_node1_len == 0) -> 0 : log_node1_0)) && (log_node2_len < log_node1_len))) && (2 < (term + 1))) && (2 < (term + 1))) || (up_node1 && up_node2 && !((((log_node2_len == 0) -> 0 : log_node2_0) < ((log_node1_len == 0) -> 0 : log_node1_0)) || ((((log_node2_len == 0) -> 0 : log_node2_0) == ((log_node1_len == 0) -> 0 : log_node1_0)) && (log_node2_len < log_node1_len))) && !((up_node1 && up_node2 && !((((log_node2_len == 0) -> 0 : log_node2_0) < ((log_node1_len == 0) -> 0 : log_node1_0)) || ((((log_node2_len == 0) -> 0 : log_node2_0) == ((log_node1_len == 0) -> 0 : log_node1_0)) && (log_node2_len < log_node1_len))) && (2 < (term + 1))) || (up_node1 && up_node2 && !((((log_node2_len == 0) -> 0 : log_node2_0) < ((log_node1_len == 0) -> 0 : log_node1_0)) || ((((log_node2_len == 0) -> 0 : log_node2_0) == ((log_node1_len == 0) -> 0 : log_node1_0)) && (log_node2_len < log_node1_len))) && !(up_node1 && up_node2 && !((((log_node2_len == 0) -> 0 : log_node2_0) < ((log_node1_len == 0) -> 0 : log_node1_0)) || ((((log_node2_len == 0) -> 0 : log_node2_0) == ((log_node1_len == 0) -> 0 : log_node1_0)) && (log_node2_len < log_node1_len))) && (2 < (term + 1))) && (2 < (term + 1)))) && (2 < (term + 1)))) ->
       promised_node1 = term + 1;
       promised_node2 = term + 1;
       term = term + 1;
       leads_node1 = false;
       leads_node2 = true;
       hw_node1 = 0;
       hw_node2 = 0;
       assert(HOLDS_committed_survives);
       assert(HOLDS_electable);
     }
  /* elect({node1, node3}, node1) */
  :: d_step { up_node1 && up_node3 && !((((log_node1_len == 0) -> 0 : log_node1_0) < ((log_node3_len == 0) -> 0 : log_node3_0)) || ((((log_node1_len == 0) -> 0 : log_node1_0) == ((log_node3_len == 0) -> 0 : log_node3_0)) && (log_node1_len < log_node3_len))) && !((up_node1 && up_node3 && !((((log_node1_len == 0) -> 0 : log_node1_0) < ((log_node3_len == 0) -> 0 : log_node3_0)) || ((((log_node1_len == 0) -> 0 : log_node1_0) == ((log_node3_len == 0) -> 0 : log_node3_0)) && (log_node1_len < log_node3_len))) && (2 < (term + 1))) || (up_node1 && up_node3 && !((((log_node1_len == 0) -> 0 : log_node1_0) < ((log_node3_len == 0) -> 0 : log_node3_0)) || ((((log_node1_len == 0) -> 0 : log_node1_0) == ((log_node3_len == 0) -> 0 : log_node3_0)) && (log_node1_len < log_node3_len))) && !(up_node1 && up_node3 && !((((log_node1_len == 0) -> 0 : log_node1_0) < ((log_node3_len == 0) -> 0 : log_node3_0)) || ((((log_node1_len == 0) -> 0 : log_node1_0) == ((log_node3_len == 0) -> 0 : log_node3_0)) && (log_node1_len < log_node3_len))) && (2 < (term + 1))) && (2 < (term + 1))) || (up_node1 && up_node3 && !((((log_node1_len == 0) -> 0 : log_node1_0) < ((log_node3_len == 0) -> 0 : log_node3_0)) || ((((log_node1_len == 0) -> 0 : log_node1_0) == ((log_node3_len == 0) -> 0 : log_node3_0)) && (log_node1_len < log_node3_len))) && !((up_node1 && up_node3 && !((((log_node1_len == 0) -> 0 : log_node1_0) < ((log_node3_len == 0) -> 0 : log_node3_0)) || ((((log_node1_len == 0) -> 0 : log_node1_0) == ((log_node3_len == 0) -> 0 : log_node3_0)) && (log_node1_len < log_node3_len))) && (2 < (term + 1))) || (up_node1 && up_node3 && !((((log_node1_len == 0) -> 0 : log_node1_0) < ((log_node3_len == 0) -> 0 : log_node3_0)) || ((((log_node1_len == 0) -> 0 : log_node1_0) == ((log_node3_len == 0) -> 0 : log_node3_0)) && (log_node1_len < log_node3_len))) && !(up_node1 && up_node3 && !((((log_node1_len == 0) -> 0 : log_node1_0) < ((log_node3_len == 0) -> 0 : log_node3_0)) || ((((log_node1_len == 0) -> 0 : log_node1_0) == ((log_node3_len == 0) -> 0 : log_node3_0)) && (log_node1_len < log_node3_len))) && (2 < (term + 1))) && (2 < (term + 1)))) && (2 < (term + 1)))) ->
       promised_node1 = term + 1;
       promised_node3 = term + 1;
       term = term + 1;
       leads_node1 = true;
       leads_node3 = false;
       hw_node1 = 0;
       hw_node3 = 0;
       assert(HOLDS_committed_survives);
       assert(HOLDS_electable);
     }
  /* elect({node1, node3}, node3) */
  :: d_step { up_node1 && up_node3 && !((((log_node3_len == 0) -> 0 : log_node3_0) < ((log_node1_len == 0) -> 0 : log_node1_0)) || ((((log_node3_len == 0) -> 0 : log_node3_0) == ((log_node1_len == 0) -> 0 : log_node1_0)) && (log_node3_len < log_node1_len))) && !((up_node1 && up_node3 && !((((log_node3_len == 0) -> 0 : log_node3_0) < ((log_node1_len == 0) -> 0 : log_node1_0)) || ((((log_node3_len == 0) -> 0 : log_node3_0) == ((log_node1_len == 0) -> 0 : log_node1_0)) && (log_node3_len < log_node1_len))) && (2 < (term + 1))) || (up_node1 && up_node3 && !((((log_node3_len == 0) -> 0 : log_node3_0) < ((log_node1_len == 0) -> 0 : log_node1_0)) || ((((log_node3_len == 0) -> 0 : log_node3_0) == ((log_node1_len == 0) -> 0 : log_node1_0)) && (log_node3_len < log_node1_len))) && !(up_node1 && up_node3 && !((((log_node3_len == 0) -> 0 : log_node3_0) < ((log_node1_len == 0) -> 0 : log_node1_0)) || ((((log_node3_len == 0) -> 0 : log_node3_0) == ((log_node1_len == 0) -> 0 : log_node1_0)) && (log_node3_len < log_node1_len))) && (2 < (term + 1))) && (2 < (term + 1))) || (up_node1 && up_node3 && !((((log_node3_len == 0) -> 0 : log_node3_0) < ((log_node1_len == 0) -> 0 : log_node1_0)) || ((((log_node3_len == 0) -> 0 : log_node3_0) == ((log_node1_len == 0) -> 0 : log_node1_0)) && (log_node3_len < log_node1_len))) && !((up_node1 && up_node3 && !((((log_node3_len == 0) -> 0 : log_node3_0) < ((log_node1_len == 0) -> 0 : log_node1_0)) || ((((log_node3_len == 0) -> 0 : log_node3_0) == ((log_node1_len == 0) -> 0 : log_node1_0)) && (log_node3_len < log_node1_len))) && (2 < (term + 1))) || (up_node1 && up_node3 && !((((log_node3_len == 0) -> 0 : log_node3_0) < ((log_node1_len == 0) -> 0 : log_node1_0)) || ((((log_node3_len == 0) -> 0 : log_node3_0) == ((log_node1_len == 0) -> 0 : log_node1_0)) && (log_node3_len < log_node1_len))) && !(up_node1 && up_node3 && !((((log_node3_len == 0) -> 0 : log_node3_0) < ((log_node1_len == 0) -> 0 : log_node1_0)) || ((((log_node3_len == 0) -> 0 : log_node3_0) == ((log_node1_len == 0) -> 0 : log_node1_0)) && (log_node3_len < log_node1_len))) && (2 < (term + 1))) && (2 < (term + 1)))) && (2 < (term + 1)))) ->
       promised_node1 = term + 1;
       promised_node3 = term + 1;
       term = term + 1;
       leads_node1 = false;
       leads_node3 = true;
       hw_node1 = 0;
       hw_node3 = 0;
       assert(HOLDS_committed_survives);
       assert(HOLDS_electable);
     }
  /* elect({node2, node3}, node2) */
  :: d_step { up_node2 && up_node3 && !((((log_node2_len == 0) -> 0 : log_node2_0) < ((log_node3_len == 0) -> 0 : log_node3_0)) || ((((log_node2_len == 0) -> 0 : log_node2_0) == ((log_node3_len == 0) -> 0 : log_node3_0)) && (log_node2_len < log_node3_len))) && !((up_node2 && up_node3 && !((((log_node2_len == 0) -> 0 : log_node2_0) < ((log_node3_len == 0) -> 0 : log_node3_0)) || ((((log_node2_len == 0) -> 0 : log_node2_0) == ((log_node3_len == 0) -> 0 : log_node3_0)) && (log_node2_len < log_node3_len))) && (2 < (term + 1))) || (up_node2 && up_node3 && !((((log_node2_len == 0) -> 0 : log_node2_0) < ((log_node3_len == 0) -> 0 : log_node3_0)) || ((((log_node2_len == 0) -> 0 : log_node2_0) == ((log_node3_len == 0) -> 0 : log_node3_0)) && (log_node2_len < log_node3_len))) && !(up_node2 && up_node3 && !((((log_node2_len == 0) -> 0 : log_node2_0) < ((log_node3_len == 0) -> 0 : log_node3_0)) || ((((log_node2_len == 0) -> 0 : log_node2_0) == ((log_node3_len == 0) -> 0 : log_node3_0)) && (log_node2_len < log_node3_len))) && (2 < (term + 1))) && (2 < (term + 1))) || (up_node2 && up_node3 && !((((log_node2_len == 0) -> 0 : log_node2_0) < ((log_node3_len == 0) -> 0 : log_node3_0)) || ((((log_node2_len == 0) -> 0 : log_node2_0) == ((log_node3_len == 0) -> 0 : log_node3_0)) && (log_node2_len < log_node3_len))) && !((up_node2 && up_node3 && !((((log_node2_len == 0) -> 0 : log_node2_0) < ((log_node3_len == 0) -> 0 : log_node3_0)) || ((((log_node2_len == 0) -> 0 : log_node2_0) == ((log_node3_len == 0) -> 0 : log_node3_0)) && (log_node2_len < log_node3_len))) && (2 < (term + 1))) || (up_node2 && up_node3 && !((((log_node2_len == 0) -> 0 : log_node2_0) < ((log_node3_len == 0) -> 0 : log_node3_0)) || ((((log_node2_len == 0) -> 0 : log_node2_0) == ((log_node3_len == 0) -> 0 : log_node3_0)) && (log_node2_len < log_node3_len))) && !(up_node2 && up_node3 && !((((log_node2_len == 0) -> 0 : log_node2_0) < ((log_node3_len == 0) -> 0 : log_node3_0)) || ((((log_node2_len == 0) -> 0 : log_node2_0) == ((log_node3_len == 0) -> 0 : log_node3_0)) && (log_node2_len < log_node3_len))) && (2 < (term + 1))) && (2 < (term + 1)))) && (2 < (term + 1)))) ->
       promised_node2 = term + 1;
       promised_node3 = term + 1;
       term = term + 1;
       leads_node2 = true;
       leads_node3 = false;
       hw_node2 = 0;
       hw_node3 = 0;
       assert(HOLDS_committed_survives);
       assert(HOLDS_electable);
     }
  /* elect({node2, node3}, node3) */
  :: d_step { up_node2 && up_node3 && !((((log_node3_len == 0) -> 0 : log_node3_0) < ((log_node2_len == 0) -> 0 : log_node2_0)) || ((((log_node3_len == 0) -> 0 : log_node3_0) == ((log_node2_len == 0) -> 0 : log_node2_0)) && (log_node3_len < log_node2_len))) && !((up_node2 && up_node3 && !((((log_node3_len == 0) -> 0 : log_node3_0) < ((log_node2_len == 0) -> 0 : log_node2_0)) || ((((log_node3_len == 0) -> 0 : log_node3_0) == ((log_node2_len == 0) -> 0 : log_node2_0)) && (log_node3_len < log_node2_len))) && (2 < (term + 1))) || (up_node2 && up_node3 && !((((log_node3_len == 0) -> 0 : log_node3_0) < ((log_node2_len == 0) -> 0 : log_node2_0)) || ((((log_node3_len == 0) -> 0 : log_node3_0) == ((log_node2_len == 0) -> 0 : log_node2_0)) && (log_node3_len < log_node2_len))) && !(up_node2 && up_node3 && !((((log_node3_len == 0) -> 0 : log_node3_0) < ((log_node2_len == 0) -> 0 : log_node2_0)) || ((((log_node3_len == 0) -> 0 : log_node3_0) == ((log_node2_len == 0) -> 0 : log_node2_0)) && (log_node3_len < log_node2_len))) && (2 < (term + 1))) && (2 < (term + 1))) || (up_node2 && up_node3 && !((((log_node3_len == 0) -> 0 : log_node3_0) < ((log_node2_len == 0) -> 0 : log_node2_0)) || ((((log_node3_len == 0) -> 0 : log_node3_0) == ((log_node2_len == 0) -> 0 : log_node2_0)) && (log_node3_len < log_node2_len))) && !((up_node2 && up_node3 && !((((log_node3_len == 0) -> 0 : log_node3_0) < ((log_node2_len == 0) -> 0 : log_node2_0)) || ((((log_node3_len == 0) -> 0 : log_node3_0) == ((log_node2_len == 0) -> 0 : log_node2_0)) && (log_node3_len < log_node2_len))) && (2 < (term + 1))) || (up_node2 && up_node3 && !((((log_node3_len == 0) -> 0 : log_node3_0) < ((log_node2_len == 0) -> 0 : log_node2_0)) || ((((log_node3_len == 0) -> 0 : log_node3_0) == ((log_node2_len == 0) -> 0 : log_node2_0)) && (log_node3_len < log_node2_len))) && !(up_node2 && up_node3 && !((((log_node3_len == 0) -> 0 : log_node3_0) < ((log_node2_len == 0) -> 0 : log_node2_0)) || ((((log_node3_len == 0) -> 0 : log_node3_0) == ((log_node2_len == 0) -> 0 : log_node2_0)) && (log_node3_len < log_node2_len))) && (2 < (term + 1))) && (2 < (term + 1)))) && (2 < (term + 1)))) ->
       promised_node2 = term + 1;
       promised_node3 = term + 1;
       term = term + 1;
       leads_node2 = false;
       leads_node3 = true;
       hw_node2 = 0;
       hw_node3 = 0;
       assert(HOLDS_committed_survives);
       assert(HOLDS_electable);
     }
  /* write(node1) */
  :: d_step { up_node1 && leads_node1 && !(up_node1 && leads_node1 && (1 < (log_node1_len + 1))) ->
       log_node1_0 = ((log_node1_len == 0) -> promised_node1 : log_node1_0);
       log_node1_len = log_node1_len + 1;
       assert(HOLDS_committed_survives);
       assert(HOLDS_electable);
     }
  /* write(node2) */
  :: d_step { up_node2 && leads_node2 && !(up_node2 && leads_node2 && (1 < (log_node2_len + 1))) ->
       log_node2_0 = ((log_node2_len == 0) -> promised_node2 : log_node2_0);
       log_node2_len = log_node2_len + 1;
       assert(HOLDS_committed_survives);
       assert(HOLDS_electable);
     }
  /* write(node3) */
  :: d_step { up_node3 && leads_node3 && !(up_node3 && leads_node3 && (1 < (log_node3_len + 1))) ->
       log_node3_0 = ((log_node3_len == 0) -> promised_node3 : log_node3_0);
       log_node3_len = log_node3_len + 1;
       assert(HOLDS_committed_survives);
       assert(HOLDS_electable);
     }
  /* replicate(node1, node2) */
  :: d_step { up_node1 && leads_node1 && up_node2 && (promised_node2 <= promised_node1) && !((log_node2_len == log_node1_len) && (log_node2_0 == log_node1_0)) ->
       log_node2_len = log_node1_len;
       log_node2_0 = log_node1_0;
       promised_node2 = promised_node1;
       leads_node2 = false;
       hw_node2 = 0;
       assert(HOLDS_committed_survives);
       assert(HOLDS_electable);
     }
  /* replicate(node1, node3) */
  :: d_step { up_node1 && leads_node1 && up_node3 && (promised_node3 <= promised_node1) && !((log_node3_len == log_node1_len) && (log_node3_0 == log_node1_0)) ->
       log_node3_len = log_node1_len;
       log_node3_0 = log_node1_0;
       promised_node3 = promised_node1;
       leads_node3 = false;
       hw_node3 = 0;
       assert(HOLDS_committed_survives);
       assert(HOLDS_electable);
     }
  /* replicate(node2, node1) */
  :: d_step { up_node2 && leads_node2 && up_node1 && (promised_node1 <= promised_node2) && !((log_node1_len == log_node2_len) && (log_node1_0 == log_node2_0)) ->
       log_node1_len = log_node2_len;
       log_node1_0 = log_node2_0;
       promised_node1 = promised_node2;
       leads_node1 = false;
       hw_node1 = 0;
       assert(HOLDS_committed_survives);
       assert(HOLDS_electable);
     }
  /* replicate(node2, node3) */
  :: d_step { up_node2 && leads_node2 && up_node3 && (promised_node3 <= promised_node2) && !((log_node3_len == log_node2_len) && (log_node3_0 == log_node2_0)) ->
       log_node3_len = log_node2_len;
       log_node3_0 = log_node2_0;
       promised_node3 = promised_node2;
       leads_node3 = false;
       hw_node3 = 0;
       assert(HOLDS_committed_survives);
       assert(HOLDS_electable);
     }
  /* replicate(node3, node1) */
  :: d_step { up_node3 && leads_node3 && up_node1 && (promised_node1 <= promised_node3) && !((log_node1_len == log_node3_len) && (log_node1_0 == log_node3_0)) ->
       log_node1_len = log_node3_len;
       log_node1_0 = log_node3_0;
       promised_node1 = promised_node3;
       leads_node1 = false;
       hw_node1 = 0;
       assert(HOLDS_committed_survives);
       assert(HOLDS_electable);
     }
  /* replicate(node3, node2) */
  :: d_step { up_node3 && leads_node3 && up_node2 && (promised_node2 <= promised_node3) && !((log_node2_len == log_node3_len) && (log_node2_0 == log_node3_0)) ->
       log_node2_len = log_node3_len;
       log_node2_0 = log_node3_0;
       promised_node2 = promised_node3;
       leads_node2 = false;
       hw_node2 = 0;
       assert(HOLDS_committed_survives);
       assert(HOLDS_electable);
     }
  /* commit(node1, 1) */
  :: d_step { (up_node1 && leads_node1 && (hw_node1 < 1) && (1 <= log_node1_len) && (log_node1_0 == promised_node1) && (2 <= (((((promised_node2 == promised_node1) && (log_node1_len <= log_node2_len) && ((log_node1_len <= 0) || (log_node2_0 == log_node1_0))) -> 1 : 0) + 1) + (((promised_node3 == promised_node1) && (log_node1_len <= log_node3_len) && ((log_node1_len <= 0) || (log_node3_0 == log_node1_0))) -> 1 : 0))) && !(up_node1 && leads_node1 && (hw_node1 < 1) && (1 <= log_node1_len) && (log_node1_len <= 0))) || (up_node1 && leads_node1 && (hw_node1 < 1) && (1 <= log_node1_len) && (log_node1_len <= 0)) ->
       assert(!(up_node1 && leads_node1 && (hw_node1 < 1) && (1 <= log_node1_len) && (log_node1_len <= 0))); /* an error of the model */
       hw_node1 = 1;
       committed_0 = ((committed_len < 1) -> log_node1_0 : committed_0);
       committed_len = ((committed_len < 1) -> log_node1_len : committed_len);
       assert(HOLDS_committed_survives);
       assert(HOLDS_electable);
     }
  /* commit(node2, 1) */
  :: d_step { (up_node2 && leads_node2 && (hw_node2 < 1) && (1 <= log_node2_len) && (log_node2_0 == promised_node2) && (2 <= (((((promised_node1 == promised_node2) && (log_node2_len <= log_node1_len) && ((log_node2_len <= 0) || (log_node1_0 == log_node2_0))) -> 1 : 0) + 1) + (((promised_node3 == promised_node2) && (log_node2_len <= log_node3_len) && ((log_node2_len <= 0) || (log_node3_0 == log_node2_0))) -> 1 : 0))) && !(up_node2 && leads_node2 && (hw_node2 < 1) && (1 <= log_node2_len) && (log_node2_len <= 0))) || (up_node2 && leads_node2 && (hw_node2 < 1) && (1 <= log_node2_len) && (log_node2_len <= 0)) ->
       assert(!(up_node2 && leads_node2 && (hw_node2 < 1) && (1 <= log_node2_len) && (log_node2_len <= 0))); /* an error of the model */
       hw_node2 = 1;
       committed_0 = ((committed_len < 1) -> log_node2_0 : committed_0);
       committed_len = ((committed_len < 1) -> log_node2_len : committed_len);
       assert(HOLDS_committed_survives);
       assert(HOLDS_electable);
     }
  /* commit(node3, 1) */
  :: d_step { (up_node3 && leads_node3 && (hw_node3 < 1) && (1 <= log_node3_len) && (log_node3_0 == promised_node3) && (1 <= ((((promised_node1 == promised_node3) && (log_node3_len <= log_node1_len) && ((log_node3_len <= 0) || (log_node1_0 == log_node3_0))) -> 1 : 0) + (((promised_node2 == promised_node3) && (log_node3_len <= log_node2_len) && ((log_node3_len <= 0) || (log_node2_0 == log_node3_0))) -> 1 : 0))) && !(up_node3 && leads_node3 && (hw_node3 < 1) && (1 <= log_node3_len) && (log_node3_len <= 0))) || (up_node3 && leads_node3 && (hw_node3 < 1) && (1 <= log_node3_len) && (log_node3_len <= 0)) ->
       assert(!(up_node3 && leads_node3 && (hw_node3 < 1) && (1 <= log_node3_len) && (log_node3_len <= 0))); /* an error of the model */
       hw_node3 = 1;
       committed_0 = ((committed_len < 1) -> log_node3_0 : committed_0);
       committed_len = ((committed_len < 1) -> log_node3_len : committed_len);
       assert(HOLDS_committed_survives);
       assert(HOLDS_electable);
     }
  /* restart(node1) */
  :: d_step { !up_node1 ->
       up_node1 = true;
       assert(HOLDS_committed_survives);
       assert(HOLDS_electable);
     }
  /* restart(node2) */
  :: d_step { !up_node2 ->
       up_node2 = true;
       assert(HOLDS_committed_survives);
       assert(HOLDS_electable);
     }
  /* restart(node3) */
  :: d_step { !up_node3 ->
       up_node3 = true;
       assert(HOLDS_committed_survives);
       assert(HOLDS_electable);
     }
  od
}
